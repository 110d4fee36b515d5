// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_TESTING_OPERATOR_FIXTURE_H_
#define RECLAIM_OPERATOR_TESTING_OPERATOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/agent_api.h"
#include "common/testing/eventually.h"
#include "operator/operator.h"
#include "operator/policy/conditions.h"
#include "operator/testing/api_server.h"
#include "operator/testing/fake_agent.h"
#include "operator/testing/policies.h"

// The whole operator in this process, against a real API server: two nodes with a pod of the agent
// each, fake agents with real tokens over real TLS.
namespace reclaim::op {

inline constexpr char kAgentAccount[] = "reclaim-node-agent";

inline kswapd::v1alpha1::NodeSpec SpecOf(const kswapd::v1alpha1::SpecPush& push) {
  kswapd::v1alpha1::NodeSpec spec;
  EXPECT_TRUE(spec.ParseFromString(push.node_spec()));
  return spec;
}

// What an agent reports after it has applied `spec`.
inline kswapd::v1alpha1::NodeReclaimStatus AppliedReport(const kswapd::v1alpha1::NodeSpec& spec) {
  auto status = FromJson<kswapd::v1alpha1::NodeReclaimStatus>(R"({
    "kernel":{"release":"7.3.0-test","features":[{"name":"kswapdThreads","supported":false}]},
    "conditions":[
      {"type":"Applied","status":"True","reason":"AllSettingsApplied","message":"1 setting"},
      {"type":"Healthy","status":"True","reason":"NoGates","message":"no gates"},
      {"type":"Degraded","status":"False","reason":"AsExpected","message":"nothing"},
      {"type":"Supported","status":"True","reason":"AllSupported","message":"all"}]})");
  if (spec.has_policy()) *status.mutable_policy() = spec.policy();
  status.mutable_workers()->set_desired(absl::StrCat(spec.spec().kswapd().workers()));
  status.mutable_workers()->set_effective(absl::StrCat(spec.spec().kswapd().workers()));
  return status;
}

class OperatorTest : public testing::Test {
 protected:
  void SetUp() override {
    node_ = api_.Unique("n1");
    other_ = api_.Unique("n2");
    node_uid_ = kube::UidOf(api_.MakeNode(node_));
    api_.MakeNode(other_);
    api_.MakeServiceAccount(kAgentAccount);
    pod_uids_[node_] = api_.MakePod(node_, kAgentAccount, node_);
    pod_uids_[other_] = api_.MakePod(other_, kAgentAccount, other_);
    StartOperator();
  }

  void TearDown() override { KillOperator(); }

  void StartOperator() {
    registry_ = std::make_unique<prometheus::Registry>();
    folder_ = *CertificateFolder::Create(testing::TempDir());
    OperatorOptions options;
    options.name_space = api_.name_space();
    options.grpc_address = "127.0.0.1:0";
    options.agent_service_account = absl::StrCat(api_.name_space(), ":", kAgentAccount);
    options.book = {.disconnect_grace = absl::Milliseconds(100),
                    .first_connect_grace = absl::Seconds(600)};
    operator_ = std::make_unique<Operator>(options, api_.client(), *folder_, clock_, *registry_,
                                           [] { FAIL() << "fatal"; });
    operator_->Start();
    ASSERT_TRUE(Eventually("the agents' port", [&] { return operator_->agent_port() != 0; }));
  }

  void KillOperator() {
    operator_.reset();
    folder_.reset();
  }

  std::string TokenOf(const std::string& node) {
    return api_.MakeToken(kAgentAccount, kAgentTokenAudience, node, pod_uids_[node]);
  }

  std::string PublishedCa() {
    const auto config_map =
        api_.client().Get(kube::ConfigMaps(), {api_.name_space(), "reclaim-operator-ca"});
    EXPECT_TRUE(config_map.ok()) << config_map.status();
    return config_map.ok() ? kube::StringAt(*config_map, {"data", "ca.crt"}) : "";
  }

  FakeAgent::Options AgentOptions(const std::string& token) {
    FakeAgent::Options options;
    options.port = operator_->agent_port();
    options.ca_pem = PublishedCa();
    options.server_name = absl::StrCat("reclaim-operator.", api_.name_space(), ".svc");
    if (!token.empty()) options.authorization = absl::StrCat("Bearer ", token);
    return options;
  }

  // A spec for our nodes only; other tests may use the same server. `rest` begins with a comma.
  std::string Spec(const std::string& rest) {
    return absl::StrCat(R"({"nodeSelector":{"matchLabels":{"test":")", api_.random(), "\"}}", rest,
                        "}");
  }

  NodeReclaim GetNodeReclaim(const std::string& node) {
    const auto object = api_.client().Get(NodeReclaims(), {"", node});
    if (!object.ok()) return {};
    return *ProjectNodeReclaim(*object);
  }

  Policy GetPolicy(const std::string& name) {
    const auto object = api_.client().Get(ReclaimPolicies(), {"", name});
    if (!object.ok()) return {};
    return ProjectPolicy(*object)->policy;
  }

  // "True AllNodesApplied" of a policy's condition.
  std::string ConditionOf(const std::string& policy, const char* type) {
    const Policy stored = GetPolicy(policy);
    const auto* condition = FindCondition(stored.status.conditions(), type);
    return condition == nullptr ? "" : absl::StrCat(condition->status(), " ", condition->reason());
  }

  testing::AssertionResult PolicyHas(const std::string& policy, const char* type,
                                     const std::string& expected) {
    return Eventually(
        absl::StrCat(policy, " to be ", type, "=", expected),
        [&] { return ConditionOf(policy, type) == expected; }, absl::Seconds(30),
        [&] { return GetPolicy(policy).status.ShortDebugString(); });
  }

  // Acknowledges and reports pushes until one satisfies `wanted`.
  std::optional<kswapd::v1alpha1::SpecPush> ApplyUntil(
      FakeAgent& agent, const std::function<bool(const kswapd::v1alpha1::NodeSpec&)>& wanted) {
    while (auto push = agent.ReadPush()) {
      agent.Ack(*push);
      const kswapd::v1alpha1::NodeSpec spec = SpecOf(*push);
      agent.Report(AppliedReport(spec));
      if (wanted(spec)) return push;
    }
    return std::nullopt;
  }

  static std::function<bool(const kswapd::v1alpha1::NodeSpec&)> Workers(int workers) {
    return [workers](const kswapd::v1alpha1::NodeSpec& spec) {
      return spec.has_policy() && spec.spec().kswapd().workers() == workers;
    };
  }

  SystemClock clock_;
  TestApiServer api_;
  std::string node_;
  std::string other_;
  std::string node_uid_;
  std::map<std::string, std::string> pod_uids_;
  std::unique_ptr<prometheus::Registry> registry_;
  std::unique_ptr<CertificateFolder> folder_;
  std::unique_ptr<Operator> operator_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_TESTING_OPERATOR_FIXTURE_H_
