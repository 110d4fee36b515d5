// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/node_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/policy/conditions.h"
#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using Link = AgentObservation::Link;

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'100);

const char kReported[] = R"({
  "policy":{"name":"p","uid":"u","revision":"r"},
  "workers":{"desired":"4","effective":"4"},
  "agentVersion":"1.2",
  "conditions":[{"type":"Supported","status":"True","reason":"AllSupported","message":"m"},
                {"type":"Applied","status":"True","reason":"AllSettingsApplied","message":"m",
                 "lastTransitionTime":"1999-01-01T00:00:00Z","observedGeneration":7},
                {"type":"Connected","status":"False","reason":"Forged","message":"m"},
                {"type":"Made up","status":"True","reason":"x","message":"m"}]})";

AgentObservation Observed(Link link, const char* report = kReported) {
  AgentObservation observation;
  observation.link = link;
  if (report != nullptr) {
    observation.report = std::make_shared<NodeReclaimStatus>(FromJson<NodeReclaimStatus>(report));
  }
  return observation;
}

std::string Types(const NodeReclaimStatus& status) {
  std::string text;
  for (const auto& condition : status.conditions()) {
    absl::StrAppend(&text, condition.type(), "=", condition.status(), "/", condition.reason(), " ");
  }
  return text;
}

TEST(NextNodeStatus, TakesTheReportAndAddsConnected) {
  const auto next = NextNodeStatus(Observed(Link::kConnected), {}, kNow);
  EXPECT_EQ(next.policy().name(), "p");
  EXPECT_EQ(next.workers().effective(), "4");
  EXPECT_EQ(next.agent_version(), "1.2");
  // In a fixed order, without what is not the agent's to say.
  EXPECT_EQ(Types(next),
            "Applied=True/AllSettingsApplied Supported=True/AllSupported "
            "Connected=True/AgentConnected ");
  EXPECT_EQ(next.conditions(0).observed_generation(), 7);
  for (const auto& condition : next.conditions()) {
    EXPECT_EQ(condition.last_transition_time(), "2026-09-21T14:15:00Z") << condition.type();
  }
}

TEST(NextNodeStatus, LeavesOutObjectsThatSayNothing) {
  const auto next =
      NextNodeStatus(Observed(Link::kConnected, R"({"workers":{},"kernel":{"release":"7.3.4"}})"),
                     FromJson<NodeReclaimStatus>(kReported), kNow);
  EXPECT_FALSE(next.has_workers());
  EXPECT_EQ(next.kernel().release(), "7.3.4");
}

TEST(NextNodeStatus, WithoutAReportKeepsWhatIsStored) {
  const auto stored = NextNodeStatus(Observed(Link::kConnected), {}, kNow);
  const auto next =
      NextNodeStatus(Observed(Link::kDisconnected, nullptr), stored, kNow + absl::Minutes(1));
  EXPECT_EQ(next.workers().effective(), "4");
  EXPECT_EQ(Types(next),
            "Applied=True/AllSettingsApplied Supported=True/AllSupported "
            "Connected=False/AgentDisconnected ");
  EXPECT_EQ(next.conditions(0).last_transition_time(), "2026-09-21T14:15:00Z");
  EXPECT_EQ(next.conditions(2).last_transition_time(), "2026-09-21T14:16:00Z");
}

TEST(NextNodeStatus, AnUnsettledLinkSaysNothingNew) {
  EXPECT_EQ(Types(NextNodeStatus(Observed(Link::kUnsettled, nullptr), {}, kNow)), "");
  const auto stored = NextNodeStatus(Observed(Link::kConnected), {}, kNow);
  const auto next =
      NextNodeStatus(Observed(Link::kUnsettled, nullptr), stored, kNow + absl::Minutes(1));
  EXPECT_EQ(next.ShortDebugString(), stored.ShortDebugString());
}

TEST(NextNodeStatus, ARefusalReplacesApplied) {
  AgentObservation observation = Observed(Link::kConnected);
  observation.refusal = "spec.kswapd.workers: 17 is more than 16";
  const auto next = NextNodeStatus(observation, {}, kNow);
  const auto* applied = FindCondition(next.conditions(), "Applied");
  EXPECT_EQ(applied->status(), "False");
  EXPECT_EQ(applied->reason(), "Refused");
  EXPECT_THAT(applied->message(), testing::HasSubstr("17 is more than 16"));
}

TEST(NextNodeStatus, BoundsMessages) {
  AgentObservation observation = Observed(Link::kConnected);
  observation.refusal = std::string(100'000, 'x');
  const auto next = NextNodeStatus(observation, {}, kNow);
  for (const auto& condition : next.conditions()) {
    EXPECT_LE(condition.message().size(), kMaxMessageBytes);
  }
}

TEST(NextNodeStatus, AnEmptyPartIsAnAbsentOne) {
  const auto next = NextNodeStatus(
      Observed(Link::kConnected, R"({"policy":{},"kernel":{},"workers":{}})"), {}, kNow);
  EXPECT_FALSE(next.has_policy());
  EXPECT_FALSE(next.has_kernel());
  EXPECT_FALSE(next.has_workers());
}

}  // namespace
}  // namespace reclaim::op
