// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/policy_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/policy/conditions.h"
#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using kswapd::v1alpha1::ReclaimPolicyStatus;
using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'100);
const absl::Time kLater = kNow + absl::Seconds(60);

struct Report {
  std::string revision;  // of policy uid-p; empty: none in force
  std::string applied = "True/AllSettingsApplied";
  std::string healthy = "True/NoGates";
  std::string degraded = "False/AsExpected";
  std::string supported = "True/AllSupported";
  std::string connected = "True/AgentConnected";
};

NodeView View(const std::string& name, const Report& report) {
  auto status = std::make_shared<NodeReclaimStatus>();
  if (!report.revision.empty()) {
    status->mutable_policy()->set_name("p");
    status->mutable_policy()->set_uid("uid-p");
    status->mutable_policy()->set_revision(report.revision);
  }
  const std::pair<const char*, std::string> conditions[] = {{"Applied", report.applied},
                                                            {"Healthy", report.healthy},
                                                            {"Degraded", report.degraded},
                                                            {"Supported", report.supported},
                                                            {"Connected", report.connected}};
  for (const auto& [type, text] : conditions) {
    const size_t slash = text.find('/');
    AddCondition(*status->mutable_conditions(), type, text.substr(0, slash), text.substr(slash + 1),
                 absl::StrCat(name, " says ", text));
  }
  return {name, status};
}

// "Ready=True AllNodesApplied, Progressing=False AllNodesApplied, …"
std::string Summary(const ReclaimPolicyStatus& status) {
  std::string text;
  for (const auto& condition : status.conditions()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", condition.type(), "=", condition.status(), " ",
                    condition.reason());
  }
  return text;
}

std::string Counts(const ReclaimPolicyStatus& status) {
  const auto& n = status.nodes();
  return absl::StrCat(n.matched(), " ", n.updated(), " ", n.applied(), " ", n.healthy(), " ",
                      n.unsupported(), " ", n.degraded(), " ", n.disconnected());
}

const char kCalm[] = ", Stalled=False AsExpected, Conflicted=False NoConflict";

TEST(NextPolicyStatus, CountsAndSaysHowFarItIs) {
  const Policy p = ReleasedPolicy("p", R"({"kswapd":{"workers":2}})");
  const std::string& r = p.revision;
  const Policy edited = Edited(p, R"({"kswapd":{"workers":3}})");
  const Policy paused = Edited(p, R"({"kswapd":{"workers":3},"paused":true})");
  const Policy paused_unchanged = Edited(p, R"({"kswapd":{"workers":2},"paused":true})");
  Policy invalid = edited;
  invalid.invalid = "spec.kswapd.workers must be 1 to 16";
  const Policy canary = Edited(p, R"({"kswapd":{"workers":3},"rollout":{"steps":[{"nodes":1}]}})");
  const Policy canary_unchanged =
      Edited(p, R"({"kswapd":{"workers":2},"rollout":{"steps":[{"nodes":1}]}})");
  const Policy pause_on_failure =
      Edited(p, R"({"kswapd":{"workers":2},"rollout":{"onFailure":"Pause"}})");
  const Policy default_on_failure =
      Edited(p, R"({"kswapd":{"workers":2},"rollout":{"onFailure":"Rollback"}})");
  struct Case {
    const char* name;
    Policy policy;
    std::vector<NodeView> nodes;
    const char* counts;  // matched updated applied healthy unsupported degraded disconnected
    std::string ready_and_progressing;
    const char* rest = kCalm;
  };
  const Case cases[] = {
      {"no node",
       p,
       {},
       "0 0 0 0 0 0 0",
       "Ready=True NoNodesMatched, Progressing=False NoNodesMatched"},
      {"all applied",
       p,
       {View("a", {r}), View("b", {r})},
       "2 2 2 2 0 0 0",
       "Ready=True AllNodesApplied, Progressing=False AllNodesApplied"},
      {"no report yet",
       p,
       {{"a", nullptr}, View("b", {r})},
       "2 1 1 1 0 0 1",
       "Ready=False NodesProgressing, Progressing=True NodesProgressing"},
      {"reports another revision",
       p,
       {View("a", {"older"})},
       "1 0 0 0 0 0 0",
       "Ready=False NodesProgressing, Progressing=True NodesProgressing"},
      {"reports no policy",
       p,
       {View("a", {""})},
       "1 0 0 0 0 0 0",
       "Ready=False NodesProgressing, Progressing=True NodesProgressing"},
      {"updated, not yet written",
       p,
       {View("a", {r, "False/SettingsPending"})},
       "1 1 0 1 0 0 0",
       "Ready=False NodesProgressing, Progressing=True NodesProgressing"},
      {"a stock kernel that applied the rest",
       p,
       {View("a", {r, "True/AllSettingsApplied", "True/NoGates", "False/AsExpected",
                   "False/Unsupported"})},
       "1 1 1 1 1 0 0",
       "Ready=True AllNodesApplied, Progressing=False AllNodesApplied"},
      {"degraded and unhealthy",
       p,
       {View("a", {r, "True/AllSettingsApplied", "False/Refaults", "True/Refused"})},
       "1 1 1 0 0 1 0",
       "Ready=True AllNodesApplied, Progressing=False AllNodesApplied"},
      {"a node that went away keeps what it applied",
       p,
       {View("a", {r, "True/AllSettingsApplied", "True/NoGates", "False/AsExpected",
                   "True/AllSupported", "False/AgentDisconnected"})},
       "1 1 1 1 0 0 1",
       "Ready=True AllNodesApplied, Progressing=False AllNodesApplied"},
      {"never released",
       NewPolicy("p"),
       {},
       "0 0 0 0 0 0 0",
       "Ready=False RolloutPending, Progressing=True RolloutPending"},
      {"edit not released",
       edited,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=False RolloutPending, Progressing=True RolloutPending"},
      {"paused with an edit",
       paused,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=False Paused, Progressing=False Paused"},
      {"paused without an edit",
       paused_unchanged,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=True AllNodesApplied, Progressing=False AllNodesApplied"},
      {"invalid",
       invalid,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=False InvalidSpec, Progressing=False InvalidSpec",
       ", Stalled=True InvalidSpec, Conflicted=False NoConflict"},
      {"asks for steps, with an edit",
       canary,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=False NotImplemented, Progressing=False NotImplemented",
       ", Stalled=True NotImplemented, Conflicted=False NoConflict"},
      {"asks for steps, without an edit",
       canary_unchanged,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=False NotImplemented, Progressing=False NotImplemented",
       ", Stalled=True NotImplemented, Conflicted=False NoConflict"},
      {"asks to pause on failure",
       pause_on_failure,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=False NotImplemented, Progressing=False NotImplemented",
       ", Stalled=True NotImplemented, Conflicted=False NoConflict"},
      {"the default of onFailure",
       default_on_failure,
       {View("a", {r})},
       "1 1 1 1 0 0 0",
       "Ready=True AllNodesApplied, Progressing=False AllNodesApplied"},
      {"mode Observe",
       p,
       {View("a", {r, "False/Observed"}), View("b", {r, "False/Observed"})},
       "2 2 0 2 0 0 0",
       "Ready=True Observed, Progressing=False Observed"},
      {"mode Observe, one node on its way",
       p,
       {View("a", {r, "False/Observed"}), View("b", {"older"})},
       "2 1 0 1 0 0 0",
       "Ready=False NodesProgressing, Progressing=True NodesProgressing"},
      {"a part that this version does not apply",
       p,
       {View("a", {r, "False/NotImplemented"}), View("b", {r})},
       "2 2 1 2 0 0 0",
       "Ready=False NotImplemented, Progressing=False NotImplemented",
       ", Stalled=True NotImplemented, Conflicted=False NoConflict"},
      {"trouble with another revision is not this one's",
       p,
       {View("a", {"older", "False/Unreadable"})},
       "1 0 0 0 0 0 0",
       "Ready=False NodesProgressing, Progressing=True NodesProgressing"},
      {"refused by an agent",
       p,
       {View("a", {"older", "False/Refused"})},
       "1 0 0 0 0 0 0",
       "Ready=False Refused, Progressing=False Refused",
       ", Stalled=True Refused, Conflicted=False NoConflict"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto status = NextPolicyStatus(c.policy, {c.nodes, {}}, kNow);
    EXPECT_EQ(Counts(status), c.counts);
    EXPECT_EQ(Summary(status), c.ready_and_progressing + c.rest);
    EXPECT_EQ(status.observed_generation(), c.policy.generation);
    for (const auto& condition : status.conditions()) {
      EXPECT_EQ(condition.observed_generation(), c.policy.generation);
      EXPECT_FALSE(condition.message().empty()) << condition.type();
    }
  }
}

TEST(NextPolicyStatus, NamesTheOtherSideOfATie) {
  const auto status = NextPolicyStatus(ReleasedPolicy("p"), {{}, {{"q", 1}, {"r", 12}}}, kNow);
  const auto* conflicted = FindCondition(status.conditions(), "Conflicted");
  EXPECT_EQ(conflicted->status(), "True");
  EXPECT_EQ(conflicted->message(),
            "priority 0 is also that of q (1 node), r (12 nodes); the older policy wins. Give one "
            "of them another spec.priority");
}

TEST(NextPolicyStatus, SaysWhatIsWrongWithTheSpec) {
  Policy policy = NewPolicy("p");
  policy.invalid = "spec.kswapd.workers must be 1 to 16";
  const auto status = NextPolicyStatus(policy, {}, kNow);
  EXPECT_THAT(FindCondition(status.conditions(), "Stalled")->message(),
              HasSubstr("spec.kswapd.workers must be 1 to 16"));
  EXPECT_FALSE(status.has_rollout());
}

TEST(NextPolicyStatus, SaysWhatOfTheRolloutIsNotAppliedAndTheWayOut) {
  const auto message = [](const char* spec) {
    const auto status = NextPolicyStatus(NewPolicy("p", spec), {}, kNow);
    EXPECT_FALSE(status.has_rollout());
    return FindCondition(status.conditions(), "Stalled")->message();
  };
  const std::string steps =
      message(R"({"rollout":{"steps":[{"nodes":1}],"onFailure":"Rollback"}})");
  EXPECT_THAT(steps, HasSubstr("spec.rollout.steps is not applied"));
  EXPECT_THAT(steps, HasSubstr("nodes keep what they have"));
  EXPECT_THAT(steps, HasSubstr("remove spec.rollout.steps"));
  EXPECT_THAT(message(R"({"rollout":{"steps":[{"nodes":1}],"onFailure":"Pause"}})"),
              HasSubstr("spec.rollout.steps and spec.rollout.onFailure are not applied"));
}

TEST(NextPolicyStatus, ListsTheTenWorstGravestFirst) {
  const Policy p = ReleasedPolicy("p");
  const std::string& r = p.revision;
  std::vector<NodeView> nodes = {
      View("fine", {r}),
      View("pending", {r, "False/SettingsPending"}),
      View("stock", {r, "True/x", "True/x", "False/x", "False/Unsupported"}),
      View("stock-says-so-in-applied", {r, "False/Unsupported"}),
      View("away", {r, "True/x", "True/x", "False/x", "True/x", "False/AgentDisconnected"}),
      View("unhealthy", {r, "True/x", "False/Refaults"}),
      View("degraded", {r, "True/x", "True/x", "True/Clamped"}),
      View("refused-b", {r, "False/Refused"}),
      View("refused-a", {r, "False/Refused", "False/x", "True/x"}),
  };
  const auto worst = [&] {
    std::string text;
    const auto status = NextPolicyStatus(p, {nodes, {}}, kNow);
    for (const auto& node : status.worst()) {
      absl::StrAppend(&text, node.node(), ":", node.reason(), " ");
    }
    return text;
  };
  const std::string expected =
      "refused-a:Refused refused-b:Refused degraded:Clamped unhealthy:Refaults "
      "away:AgentDisconnected stock:Unsupported stock-says-so-in-applied:Unsupported ";
  EXPECT_EQ(worst(), expected);
  std::reverse(nodes.begin(), nodes.end());
  EXPECT_EQ(worst(), expected);
  for (int i = 0; i < 20; ++i) nodes.push_back(View(absl::StrCat("x", i), {r, "False/Refused"}));
  EXPECT_EQ(NextPolicyStatus(p, {nodes, {}}, kNow).worst_size(), 10);
}

TEST(NextPolicyStatus, IsTheSameLaterWhenNothingChanged) {
  Policy policy = NewPolicy("p");
  policy.status = NextPolicyStatus(policy, {}, kNow);    // released
  policy.status = NextPolicyStatus(policy, {}, kLater);  // complete
  const auto again = NextPolicyStatus(policy, {}, kLater + absl::Hours(1));
  EXPECT_EQ(again.ShortDebugString(), policy.status.ShortDebugString());
  // Ready became true with the second; Stalled has been false since the first.
  EXPECT_EQ(FindCondition(again.conditions(), "Ready")->last_transition_time(),
            "2026-09-21T14:16:00Z");
  EXPECT_EQ(FindCondition(again.conditions(), "Stalled")->last_transition_time(),
            "2026-09-21T14:15:00Z");
}

}  // namespace
}  // namespace reclaim::op
