// SPDX-License-Identifier: Apache-2.0
//
// The whole operator against a real API server; see testing/operator_fixture.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kube/secret.h"
#include "operator/metrics/metric_rows.h"
#include "operator/testing/operator_fixture.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using kswapd::v1alpha1::NodeSpec;
using testing::HasSubstr;

TEST_F(OperatorTest, APolicyReachesTheAgentAndItsReportReachesTheStatus) {
  const std::string policy = api_.Unique("p");
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  agent.Hello("", node_);
  const auto none = agent.ReadPush();
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(SpecOf(*none).has_policy()) << "no policy must be said";
  agent.Ack(*none);
  agent.Report(AppliedReport(SpecOf(*none)));

  ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":4})")).ok());
  const auto push = ApplyUntil(agent, Workers(4));
  ASSERT_TRUE(push.has_value());
  EXPECT_EQ(SpecOf(*push).policy().name(), policy);
  EXPECT_EQ(SpecOf(*push).policy().generation(), 1);

  ASSERT_TRUE(Eventually("the report in NodeReclaim", [&] {
    const NodeReclaim reclaim = GetNodeReclaim(node_);
    return reclaim.status.policy().name() == policy && reclaim.status.workers().effective() == "4";
  }));
  const NodeReclaim reclaim = GetNodeReclaim(node_);
  EXPECT_EQ(reclaim.owner_uid, node_uid_);
  EXPECT_TRUE(HasStatus(reclaim.status.conditions(), "Applied", "True"));
  EXPECT_TRUE(HasStatus(reclaim.status.conditions(), "Connected", "True"));
  for (const auto& condition : reclaim.status.conditions()) {
    EXPECT_FALSE(condition.last_transition_time().empty()) << condition.type();
  }
  const auto object = api_.client().Get(NodeReclaims(), {"", node_});
  const kube::Json* features = kube::Find(*object, {"status", "kernel", "features"});
  ASSERT_NE(features, nullptr);
  EXPECT_EQ((*features)[0].value("supported", true), false) << "false is the news";

  // The other node has no agent.
  EXPECT_TRUE(PolicyHas(policy, "Ready", "False NodesProgressing"));
  ASSERT_TRUE(Eventually("the counts", [&] {
    const auto counts = GetPolicy(policy).status.nodes();
    return counts.matched() == 2 && counts.applied() == 1 && counts.disconnected() == 1;
  }));
  FakeAgent second(AgentOptions(TokenOf(other_)));
  second.Hello();
  ASSERT_TRUE(ApplyUntil(second, Workers(4)).has_value());
  EXPECT_TRUE(PolicyHas(policy, "Ready", "True AllNodesApplied"));
  EXPECT_TRUE(PolicyHas(policy, "Progressing", "False AllNodesApplied"));
  const auto rollout = GetPolicy(policy).status.rollout();
  EXPECT_EQ(rollout.update_revision(), GetPolicy(policy).revision);
  EXPECT_EQ(rollout.threshold(), 2147483647);

  api_.Remove(ReclaimPolicies(), policy);
  const auto gone = ApplyUntil(agent, [](const NodeSpec& spec) { return !spec.has_policy(); });
  ASSERT_TRUE(gone.has_value());
  ASSERT_TRUE(Eventually("NodeReclaim to say that no policy is in force",
                         [&] { return !GetNodeReclaim(node_).status.has_policy(); }));

  // Server-side apply of `workers: {}` over ours would leave null, which the schema refuses.
  NodeReclaimStatus idle = AppliedReport({});
  idle.mutable_workers()->Clear();
  agent.Report(idle);
  EXPECT_TRUE(Eventually("NodeReclaim without workers",
                         [&] { return !GetNodeReclaim(node_).status.has_workers(); }));
}

TEST_F(OperatorTest, ServesOnlyTheAgentOfTheNode) {
  api_.MakeServiceAccount("somebody-else");
  const std::string pod_uid = api_.MakePod(api_.Unique("pod"), "somebody-else", node_);
  const auto code_of = [&](const std::string& token, const std::string& node) {
    FakeAgent agent(AgentOptions(token));
    agent.Hello("", node);
    const grpc::Status status = agent.WaitForEnd();
    return absl::StrCat(status.error_code(), " ", status.error_message());
  };
  const std::string unauthenticated = absl::StrCat(grpc::StatusCode::UNAUTHENTICATED, " ");
  const std::string denied = absl::StrCat(grpc::StatusCode::PERMISSION_DENIED, " ");
  EXPECT_THAT(code_of("", ""), HasSubstr(unauthenticated + "no token"));
  EXPECT_THAT(code_of("not.a.token", ""), HasSubstr(unauthenticated));
  EXPECT_THAT(code_of(api_.MakeToken(kAgentAccount, "https://kubernetes.default.svc", node_,
                                     pod_uids_[node_]),
                      ""),
              HasSubstr(unauthenticated));
  EXPECT_THAT(code_of(TokenOf(other_), node_), HasSubstr(denied + "the token is of a pod on node"));
  EXPECT_THAT(code_of(api_.MakeToken(kAgentAccount, kAgentTokenAudience, "", ""), ""),
              HasSubstr(denied + "the token is not bound"));
  EXPECT_THAT(
      code_of(api_.MakeToken("somebody-else", kAgentTokenAudience, api_.Unique("pod"), pod_uid),
              ""),
      HasSubstr(denied + "the token is of system:serviceaccount:"));
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  agent.Hello("", node_);
  EXPECT_TRUE(agent.ReadPush().has_value());
}

TEST_F(OperatorTest, ConvergesWhenItIsKilledDuringAChange) {
  const std::string policy = api_.Unique("p");
  ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":2})")).ok());
  std::string applied;
  {
    FakeAgent agent(AgentOptions(TokenOf(node_)));
    agent.Hello();
    const auto push = ApplyUntil(agent, Workers(2));
    ASSERT_TRUE(push.has_value());
    applied = push->version();
    ASSERT_TRUE(Eventually("the report in NodeReclaim", [&] {
      return GetNodeReclaim(node_).status.workers().effective() == "2";
    }));
    ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":3})")).ok());
    KillOperator();
  }
  ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":5})")).ok());
  const std::string ca = PublishedCa();
  StartOperator();
  EXPECT_EQ(PublishedCa(), ca) << "the authority is kept";
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  agent.Hello(applied);
  const auto push = ApplyUntil(agent, Workers(5));
  ASSERT_TRUE(push.has_value());
  EXPECT_TRUE(Eventually("the new report in NodeReclaim", [&] {
    return GetNodeReclaim(node_).status.workers().effective() == "5";
  }));
  EXPECT_TRUE(Eventually("the policy's status to be about the newest generation", [&] {
    const Policy stored = GetPolicy(policy);
    return stored.status.observed_generation() == 3 &&
           stored.status.rollout().update_revision() == stored.revision &&
           stored.status.nodes().applied() == 1;
  }));
}

TEST_F(OperatorTest, ARestartWithoutNewsWritesNothing) {
  const std::string policy = api_.Unique("p");
  ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":2})")).ok());
  std::string applied;
  NodeReclaimStatus report;
  {
    FakeAgent agent(AgentOptions(TokenOf(node_)));
    FakeAgent second(AgentOptions(TokenOf(other_)));
    agent.Hello();
    second.Hello();
    const auto push = ApplyUntil(agent, Workers(2));
    ASSERT_TRUE(push.has_value());
    ASSERT_TRUE(ApplyUntil(second, Workers(2)).has_value());
    applied = push->version();
    report = AppliedReport(SpecOf(*push));
    ASSERT_TRUE(PolicyHas(policy, "Ready", "True AllNodesApplied"));
    KillOperator();
  }
  const auto versions = [&] {
    return absl::StrCat(
        GetNodeReclaim(node_).resource_version, " ", GetNodeReclaim(other_).resource_version, " ",
        kube::ResourceVersionOf(*api_.client().Get(ReclaimPolicies(), {"", policy})));
  };
  const std::string before = versions();
  StartOperator();
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  FakeAgent second(AgentOptions(TokenOf(other_)));
  for (FakeAgent* each : {&agent, &second}) {
    each->Hello(applied);
    each->Report(report);
  }
  // A change of something else has been carried through both controllers: what had to be written
  // before it has been.
  const std::string marker = api_.Unique("marker");
  ASSERT_TRUE(
      api_.ApplyPolicy(marker, R"({"nodeSelector":{"matchLabels":{"nobody":"has-this"}}})").ok());
  ASSERT_TRUE(PolicyHas(marker, "Ready", "True NoNodesMatched"));
  EXPECT_EQ(versions(), before);
}

// A policy whose edit to three workers is held, and released by an edit to four without `hold`,
// which are fields of the spec. `while_held` looks at the policy of that name in between.
class HeldEditTest : public OperatorTest {
 protected:
  template <typename WhileHeld>
  void HoldAndRelease(const std::string& hold, WhileHeld while_held) {
    const std::string policy = api_.Unique("p");
    ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":2})")).ok());
    FakeAgent agent(AgentOptions(TokenOf(node_)));
    agent.Hello();
    ASSERT_TRUE(ApplyUntil(agent, Workers(2)).has_value());
    ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":3})" + hold)).ok());
    while_held(policy);
    if (HasFatalFailure()) return;
    ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":4})")).ok());
    const auto push = agent.ReadPush();
    ASSERT_TRUE(push.has_value());
    EXPECT_EQ(SpecOf(*push).spec().kswapd().workers(), 4) << "the held edit must not be sent";
  }
};

TEST_F(HeldEditTest, PauseHoldsAnEditAndItsEndReleasesIt) {
  HoldAndRelease(R"(,"paused":true)", [&](const std::string& policy) {
    ASSERT_TRUE(PolicyHas(policy, "Progressing", "False Paused"));
  });
}

TEST_F(HeldEditTest, RolloutStepsHoldAnEditUntilTheyAreRemoved) {
  // The schema's default of onFailure comes with it.
  HoldAndRelease(R"(,"rollout":{"steps":[{"nodes":1}]})", [&](const std::string& policy) {
    ASSERT_TRUE(PolicyHas(policy, "Stalled", "True NotImplemented"));
    const Policy held = GetPolicy(policy);
    EXPECT_THAT(FindCondition(held.status.conditions(), "Stalled")->message(),
                HasSubstr("remove spec.rollout.steps"));
    EXPECT_NE(held.status.rollout().update_revision(), held.revision);
  });
}

TEST_F(OperatorTest, APolicyThatIsMadeAgainReachesTheAgent) {
  const std::string policy = api_.Unique("p");
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  agent.Hello();
  for (const int workers : {2, 3, 4}) {
    SCOPED_TRACE(workers);
    ASSERT_TRUE(
        api_.ApplyPolicy(policy, Spec(absl::StrCat(R"(,"kswapd":{"workers":)", workers, "}")))
            .ok());
    ASSERT_TRUE(ApplyUntil(agent, Workers(workers)).has_value());
    api_.Remove(ReclaimPolicies(), policy);
  }
}

TEST_F(OperatorTest, BothPoliciesSayThatTheyConflict) {
  const std::string first = api_.Unique("a");
  const std::string second = api_.Unique("b");
  ASSERT_TRUE(api_.ApplyPolicy(first, Spec(R"(,"priority":7)")).ok());
  ASSERT_TRUE(api_.ApplyPolicy(second, Spec(R"(,"priority":7)")).ok());
  EXPECT_TRUE(PolicyHas(first, "Conflicted", "True PrioritiesTie"));
  EXPECT_TRUE(PolicyHas(second, "Conflicted", "True PrioritiesTie"));
  ASSERT_TRUE(api_.ApplyPolicy(second, Spec(R"(,"priority":8)")).ok());
  EXPECT_TRUE(PolicyHas(first, "Conflicted", "False NoConflict"));
  EXPECT_TRUE(PolicyHas(first, "Ready", "True NoNodesMatched"));
}

TEST_F(OperatorTest, ARefusedSpecStallsThePolicyAndShowsOnTheNode) {
  const std::string policy = api_.Unique("p");
  ASSERT_TRUE(api_.ApplyPolicy(policy, Spec(R"(,"kswapd":{"workers":2})")).ok());
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  agent.Hello();
  while (const auto push = agent.ReadPush()) {
    const bool has_policy = SpecOf(*push).has_policy();
    agent.Ack(*push,
              has_policy ? std::optional<std::string>("workers: not on this node") : std::nullopt);
    if (has_policy) break;
  }
  ASSERT_TRUE(PolicyHas(policy, "Stalled", "True Refused"));
  const auto worst = GetPolicy(policy).status.worst();
  ASSERT_EQ(worst.size(), 1);
  EXPECT_EQ(worst[0].node(), node_);
  EXPECT_THAT(worst[0].message(), HasSubstr("workers: not on this node"));
}

TEST_F(OperatorTest, SaysThatAnAgentWentAway) {
  {
    FakeAgent agent(AgentOptions(TokenOf(node_)));
    agent.Hello();
    ASSERT_TRUE(Eventually("Connected=True", [&] {
      return HasStatus(GetNodeReclaim(node_).status.conditions(), "Connected", "True");
    }));
  }
  EXPECT_TRUE(Eventually("Connected=False", [&] {
    return HasStatus(GetNodeReclaim(node_).status.conditions(), "Connected", "False");
  }));
}

TEST_F(OperatorTest, ANewNodeOfTheSameNameGetsItsOwnNodeReclaim) {
  const std::string name = api_.Unique("n3");
  // A stream is refused until the operator has seen the node.
  const auto served = [&](const std::string& pod, const std::string& pod_uid) {
    std::unique_ptr<FakeAgent> agent;
    EXPECT_TRUE(Eventually("the new node to be served", [&] {
      agent = std::make_unique<FakeAgent>(
          AgentOptions(api_.MakeToken(kAgentAccount, kAgentTokenAudience, pod, pod_uid)));
      agent->Hello();
      return agent->ReadPush().has_value();
    }));
    return agent;
  };
  api_.MakeNode(name);
  const std::unique_ptr<FakeAgent> old = served(name, api_.MakePod(name, kAgentAccount, name));
  old->Report(AppliedReport({}));
  ASSERT_TRUE(Eventually("a NodeReclaim",
                         [&] { return GetNodeReclaim(name).status.workers().desired() == "0"; }));
  const std::string before = GetNodeReclaim(name).uid;

  api_.Remove(kube::Nodes(), name);
  EXPECT_EQ(old->WaitForEnd().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  const std::string uid = kube::UidOf(api_.MakeNode(name));
  const std::string pod = api_.Unique("n3-again");
  const std::unique_ptr<FakeAgent> agent = served(pod, api_.MakePod(pod, kAgentAccount, name));
  EXPECT_TRUE(Eventually("a NodeReclaim of the new node", [&] {
    const NodeReclaim reclaim = GetNodeReclaim(name);
    return reclaim.owner_uid == uid && reclaim.uid != before &&
           HasStatus(reclaim.status.conditions(), "Connected", "True");
  }));
  api_.Remove(NodeReclaims(), name);
}

TEST_F(OperatorTest, TheAuthorityIsSharedKeptAndRepaired) {
  AuthorityStore one(api_.client(), clock_, api_.name_space());
  AuthorityStore two(api_.client(), clock_, api_.name_space());
  const auto first = one.Ensure();
  const auto second = two.Ensure();
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(first->bundle_pem, second->bundle_pem);
  EXPECT_EQ(first->bundle_pem, PublishedCa());
  const kube::ObjectName name = {api_.name_space(), "reclaim-operator-ca"};
  const auto version = [&] {
    return absl::StrCat(kube::ResourceVersionOf(*api_.client().Get(kube::Secrets(), name)), " ",
                        kube::ResourceVersionOf(*api_.client().Get(kube::ConfigMaps(), name)));
  };
  const std::string before = version();
  ASSERT_TRUE(one.Ensure().ok());
  EXPECT_EQ(version(), before) << "nothing differs, nothing is written";

  ASSERT_TRUE(api_.client().Delete(kube::ConfigMaps(), name).ok());
  ASSERT_TRUE(api_.client().Delete(kube::Secrets(), name).ok());
  const auto again = one.Ensure();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->bundle_pem, first->bundle_pem);
  EXPECT_EQ(PublishedCa(), first->bundle_pem);

  kube::Json secret = *api_.client().Get(kube::Secrets(), name);
  kube::SetSecretData(secret, {{"ca.crt", "garbage"}, {"ca.key", "garbage"}});
  ASSERT_TRUE(api_.client().Update(kube::Secrets(), secret).ok());
  const auto mended = one.Ensure();
  ASSERT_TRUE(mended.ok()) << mended.status();
  EXPECT_EQ(mended->bundle_pem, first->bundle_pem);
  EXPECT_EQ(two.Ensure()->bundle_pem, first->bundle_pem);
}

TEST_F(OperatorTest, IsReadyAndItsMetricsStandInTheTable) {
  for (const HealthCheck& check : operator_->Readiness()) {
    EXPECT_TRUE(check.check().ok()) << check.name;
  }
  for (const HealthCheck& check : operator_->Liveness()) {
    EXPECT_TRUE(check.check().ok()) << check.name;
  }
  FakeAgent agent(AgentOptions(TokenOf(node_)));
  agent.Hello();
  ASSERT_TRUE(agent.ReadPush().has_value());
  std::vector<prometheus::MetricFamily> families = registry_->Collect();
  for (prometheus::MetricFamily& family : operator_->Collect()) {
    families.push_back(std::move(family));
  }
  const absl::Status status = CheckFamilies(families, rows::Table());
  EXPECT_TRUE(status.ok()) << status;
  // Every row is served but what main() adds: the counter of requests.
  std::set<std::string> names;
  for (const auto& family : families) names.insert(family.name);
  for (const MetricRow& row : rows::Table()) {
    if (row.name == rows::kRestRequests.name) continue;
    EXPECT_EQ(names.count(row.name), 1u) << row.name;
  }
}

}  // namespace
}  // namespace reclaim::op
