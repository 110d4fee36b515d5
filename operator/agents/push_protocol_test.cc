// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/push_protocol.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace reclaim::op {
namespace {

using Answer = PushProtocol::Answer;

// Plays one stream as text, so that a case reads like the exchange itself.
class PushProtocolTest : public testing::Test {
 protected:
  void Desire(const std::string& version, std::optional<absl::Duration> changed_at = {}) {
    protocol_.SetDesired(
        std::make_shared<const ServedSpec>(ServedSpec{version, absl::StrCat("bytes of ", version)}),
        changed_at);
  }

  // "v1 with s-1", or "" when there is nothing to send.
  std::string Send() {
    const auto push = protocol_.Next();
    if (!push.has_value()) return "";
    EXPECT_EQ(push->node_spec(), absl::StrCat("bytes of ", push->version()));
    return absl::StrCat(push->version(), " with ", push->nonce());
  }

  PushProtocol::AckResult Ack(const std::string& nonce, const std::string& version = "") {
    kswapd::v1alpha1::SpecAck ack;
    ack.set_nonce(nonce);
    ack.set_version(version);
    return protocol_.OnAck(ack);
  }

  PushProtocol::AckResult Nack(const std::string& nonce, const std::string& error) {
    kswapd::v1alpha1::SpecAck ack;
    ack.set_nonce(nonce);
    ack.set_error(error);
    return protocol_.OnAck(ack);
  }

  PushProtocol protocol_{"s"};
};

TEST_F(PushProtocolTest, SaysNothingBeforeTheHello) {
  Desire("v1");
  EXPECT_EQ(Send(), "");
  protocol_.OnHello("");
  EXPECT_EQ(Send(), "v1 with s-1");
}

TEST_F(PushProtocolTest, SkipsWhatTheAgentAlreadyRuns) {
  protocol_.OnHello("v1");
  Desire("v1");
  EXPECT_EQ(Send(), "");
  Desire("v2");
  EXPECT_EQ(Send(), "v2 with s-1");
}

TEST_F(PushProtocolTest, OneAtATimeAndTheNewestWins) {
  protocol_.OnHello("");
  Desire("v1");
  EXPECT_EQ(Send(), "v1 with s-1");
  Desire("v2");
  EXPECT_EQ(Send(), "");
  Desire("v3");
  EXPECT_EQ(Send(), "");
  EXPECT_EQ(Ack("s-1").answer, Answer::kAck);
  EXPECT_EQ(Send(), "v3 with s-2");
  EXPECT_EQ(Ack("s-2").answer, Answer::kAck);
  EXPECT_EQ(Send(), "");
}

TEST_F(PushProtocolTest, GoesBackWithoutAPushWhenTheNewestIsWhatTheAgentRuns) {
  protocol_.OnHello("");
  Desire("v1");
  EXPECT_EQ(Send(), "v1 with s-1");
  Desire("v2");
  Desire("v1");
  Ack("s-1");
  EXPECT_EQ(Send(), "");
}

TEST_F(PushProtocolTest, HoldsARefusedVersionAndSendsTheNext) {
  protocol_.OnHello("v1");
  Desire("v2");
  EXPECT_EQ(Send(), "v2 with s-1");
  EXPECT_EQ(Nack("s-1", "workers: 99 is more than 16").answer, Answer::kNack);
  EXPECT_EQ(protocol_.refusal(), "workers: 99 is more than 16");
  EXPECT_EQ(Send(), "");
  Desire("v2");
  EXPECT_EQ(Send(), "");
  Desire("v3");
  EXPECT_EQ(protocol_.refusal(), "");
  EXPECT_EQ(Send(), "v3 with s-2");
  EXPECT_EQ(Ack("s-2").answer, Answer::kAck);
  EXPECT_EQ(protocol_.refusal(), "");
}

TEST_F(PushProtocolTest, AfterARefusalTheAgentStillRunsTheOldOne) {
  protocol_.OnHello("v1");
  Desire("v2");
  Send();
  Nack("s-1", "no");
  Desire("v1");
  EXPECT_EQ(Send(), "");
  EXPECT_EQ(protocol_.refusal(), "");
}

TEST_F(PushProtocolTest, ARefusalWithoutWordsIsARefusal) {
  protocol_.OnHello("");
  Desire("v1");
  Send();
  EXPECT_EQ(Nack("s-1", "").answer, Answer::kNack);
  EXPECT_NE(protocol_.refusal(), "");
}

TEST_F(PushProtocolTest, IgnoresStaleNonces) {
  protocol_.OnHello("");
  EXPECT_EQ(Ack("s-1").answer, Answer::kStale);
  Desire("v1");
  EXPECT_EQ(Send(), "v1 with s-1");
  EXPECT_EQ(Ack("other", "v1").answer, Answer::kStale);
  EXPECT_EQ(Nack("other", "no").answer, Answer::kStale);
  EXPECT_EQ(Ack("s-1").answer, Answer::kAck);
  EXPECT_EQ(Ack("s-1").answer, Answer::kStale);
}

TEST_F(PushProtocolTest, HoldSaysNothingAndTakesNothingBack) {
  protocol_.OnHello("");
  protocol_.SetDesired(nullptr, {});
  EXPECT_EQ(Send(), "");
  Desire("v1");
  EXPECT_EQ(Send(), "v1 with s-1");
  protocol_.SetDesired(nullptr, {});
  Ack("s-1");
  EXPECT_EQ(Send(), "");
}

TEST_F(PushProtocolTest, TheAckTellsWhenTheChangeWasSeen) {
  protocol_.OnHello("");
  Desire("v1");
  Send();
  EXPECT_EQ(Ack("s-1").changed_at, std::nullopt);
  Desire("v2", absl::Seconds(7));
  Desire("v2", absl::Seconds(8));  // seen again, changed before
  Send();
  EXPECT_EQ(Ack("s-2").changed_at, absl::Seconds(7));
}

TEST_F(PushProtocolTest, AChangeIsAsOldAsTheHoldThatItBeganWith) {
  protocol_.OnHello("v1");
  protocol_.SetDesired(nullptr, absl::Seconds(7));
  Desire("v2", absl::Seconds(7.2));
  Send();
  EXPECT_EQ(Ack("s-1").changed_at, absl::Seconds(7));
  // Paused for a long time: it was not on its way.
  protocol_.SetDesired(nullptr, absl::Seconds(20));
  Desire("v3", absl::Seconds(90));
  Send();
  EXPECT_EQ(Ack("s-2").changed_at, absl::Seconds(90));
}

}  // namespace
}  // namespace reclaim::op
