// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/agent_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "common/simulated_clock.h"

namespace reclaim::op {
namespace {

using Link = AgentObservation::Link;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class AgentBookTest : public testing::Test {
 protected:
  Link LinkOf(absl::string_view node) { return book_.Find(node).observation.link; }

  SimulatedClock clock_;
  std::vector<std::pair<std::string, absl::Duration>> changes_;
  AgentBook book_{clock_, [this](absl::string_view node, absl::Duration delay) {
                    changes_.emplace_back(node, delay);
                  }};
};

TEST_F(AgentBookTest, GivesANewNodeTimeToConnect) {
  book_.AddNode("n");
  EXPECT_EQ(LinkOf("n"), Link::kUnsettled);
  EXPECT_EQ(book_.Find("n").settles_in, absl::Seconds(120));
  EXPECT_THAT(changes_, ElementsAre(Pair("n", absl::Seconds(120))));
  clock_.Advance(absl::Seconds(119));
  EXPECT_EQ(LinkOf("n"), Link::kUnsettled);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(LinkOf("n"), Link::kDisconnected);
}

TEST_F(AgentBookTest, AnAgentThatRestartsWasNeverAway) {
  book_.AddNode("n");
  book_.Connect("n", 1);
  EXPECT_EQ(LinkOf("n"), Link::kConnected);
  EXPECT_EQ(book_.connected(), 1);
  changes_.clear();
  book_.Disconnect("n", 1);
  EXPECT_EQ(LinkOf("n"), Link::kUnsettled);
  EXPECT_EQ(book_.connected(), 0);
  // Nothing is to be looked at before the grace is over.
  EXPECT_THAT(changes_, ElementsAre(Pair("n", absl::Seconds(15))));
  clock_.Advance(absl::Seconds(5));
  book_.Connect("n", 2);
  clock_.Advance(absl::Seconds(20));
  EXPECT_EQ(LinkOf("n"), Link::kConnected);
}

TEST_F(AgentBookTest, AnAgentThatStaysAwayIsDisconnected) {
  book_.Connect("n", 1);
  book_.Disconnect("n", 1);
  clock_.Advance(absl::Seconds(15));
  EXPECT_EQ(LinkOf("n"), Link::kDisconnected);
}

TEST_F(AgentBookTest, IgnoresWhatAnOlderStreamSays) {
  book_.Connect("n", 2);
  book_.Connect("n", 1);
  book_.Report("n", 1, {});
  book_.SetRefusal("n", 1, "no");
  book_.Disconnect("n", 1);
  EXPECT_EQ(LinkOf("n"), Link::kConnected);
  EXPECT_EQ(book_.Find("n").observation.report, nullptr);
  EXPECT_EQ(book_.Find("n").observation.refusal, "");
  EXPECT_EQ(book_.connected(), 1);
}

TEST_F(AgentBookTest, KeepsTheReportOverAReconnectAndForgetsTheRefusal) {
  book_.Connect("n", 1);
  kswapd::v1alpha1::NodeReclaimStatus status;
  status.set_agent_version("v");
  book_.Report("n", 1, status);
  book_.SetRefusal("n", 1, "no");
  book_.Disconnect("n", 1);
  EXPECT_EQ(book_.Find("n").observation.report->agent_version(), "v");
  EXPECT_EQ(book_.Find("n").observation.refusal, "no");
  book_.Connect("n", 2);
  EXPECT_EQ(book_.Find("n").observation.report->agent_version(), "v");
  EXPECT_EQ(book_.Find("n").observation.refusal, "");
}

TEST_F(AgentBookTest, SaysNothingWhenNothingChanged) {
  book_.Connect("n", 1);
  book_.SetRefusal("n", 1, "no");
  changes_.clear();
  book_.SetRefusal("n", 1, "no");
  book_.Disconnect("x", 1);
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(AgentBookTest, ForgetsANodeThatIsGone) {
  book_.AddNode("n");
  book_.Connect("n", 1);
  book_.RemoveNode("n");
  EXPECT_EQ(book_.connected(), 0);
  book_.Disconnect("n", 1);
  EXPECT_EQ(book_.connected(), 0);
  EXPECT_EQ(LinkOf("n"), Link::kUnsettled);
}

}  // namespace
}  // namespace reclaim::op
