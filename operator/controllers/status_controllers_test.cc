// SPDX-License-Identifier: Apache-2.0
//
// The two writers of statuses over a scripted API server.
#include <gtest/gtest.h>

#include "common/simulated_clock.h"
#include "kube/testing/scripted_transport.h"
#include "operator/controllers/node_reclaim_controller.h"
#include "operator/controllers/policy_status_controller.h"
#include "operator/policy/node_status.h"
#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

constexpr absl::Duration kTrust = LastWritten<StoredPolicy>::kTrust;

// As the API server would store it.
kube::Json PolicyObject(const std::string& uid, const std::string& resource_version) {
  return {{"apiVersion", "kswapd.dev/v1alpha1"},
          {"kind", "ReclaimPolicy"},
          {"metadata",
           {{"name", "p"},
            {"uid", uid},
            {"resourceVersion", resource_version},
            {"generation", 1},
            {"creationTimestamp", "2026-11-30T18:00:00Z"}}},
          {"spec", {{"kswapd", {{"workers", 2}}}}}};
}

class StatusControllersTest : public testing::Test {
 protected:
  // The planner's work: a World out of the caches.
  void Plan() {
    std::vector<Policy> policies;
    for (const auto& [name, stored] : caches_.policies.List()) policies.push_back(stored->policy);
    std::vector<std::shared_ptr<const Node>> nodes;
    for (const auto& [name, node] : caches_.nodes.List()) nodes.push_back(node);
    sessions_.Publish(World::Build(std::move(policies), nodes, sessions_.world().get()), {},
                      clock_.Monotonic());
  }

  // A policy in the cache and in the World. It is released, so that the same input gives the same
  // status twice. Returns what the API server has of it.
  kube::Json StoreReleasedPolicy() {
    const Policy released = ReleasedPolicy("p", R"({"kswapd":{"workers":2}})");
    kube::Json object = PolicyObject("uid-1", "1");
    object["status"] = MakePolicyStatus("p", "uid-1", released.status)["status"];
    caches_.policies.Upsert(object);
    Plan();
    return object;
  }

  // A node in the cache whose agent has a stream.
  std::shared_ptr<const Node> ConnectNode() {
    auto node = NewNode("n");
    caches_.nodes.Upsert({{"apiVersion", "v1"},
                          {"kind", "Node"},
                          {"metadata", {{"name", "n"}, {"uid", node->uid}}}});
    book_.AddNode("n");
    book_.Connect("n", 1);
    return node;
  }

  SimulatedClock clock_;
  prometheus::Registry registry_;
  kube::testing::ScriptedTransport transport_;
  kube::Client client_{transport_};
  Caches caches_{client_, clock_};
  AgentSessions sessions_;
  AgentBook book_{clock_, [](absl::string_view, absl::Duration) {}};
  PolicyStatusController policies_{client_, caches_, sessions_, clock_, registry_};
  NodeReclaimController node_reclaims_{client_, caches_, book_, clock_, registry_};
};

TEST_F(StatusControllersTest, APolicyThatIsDeletedAndMadeAgainIsReleasedAtOnce) {
  caches_.policies.Upsert(PolicyObject("uid-1", "1"));
  Plan();
  transport_.Answer(PolicyObject("uid-1", "2"));
  ASSERT_TRUE(policies_.Reconcile("p").ok());
  ASSERT_EQ(transport_.requests.size(), 1u);

  caches_.policies.Upsert(PolicyObject("uid-2", "4"));
  Plan();
  transport_.Answer(PolicyObject("uid-2", "5"));
  ASSERT_TRUE(policies_.Reconcile("p").ok());
  ASSERT_EQ(transport_.requests.size(), 2u) << "nothing was written for the new policy";
  const auto body = kube::ParseJson(transport_.requests.back().body, "test");
  EXPECT_EQ(kube::StringAt(*body, {"metadata", "uid"}), "uid-2");
  EXPECT_NE(kube::StringAt(*body, {"status", "rollout", "updateRevision"}), "");
}

TEST_F(StatusControllersTest, APolicyIsLookedAtAgainWhenAWriteIsNoLongerTrusted) {
  kube::Json object = StoreReleasedPolicy();
  // What comes back is what was written; the script must know it before it is asked.
  const Policy policy = *sessions_.world()->FindPolicy("p");
  const auto next = NextPolicyStatus(policy, {}, clock_.Now());
  object["status"] = MakePolicyStatus("p", "uid-1", next)["status"];
  object["metadata"]["resourceVersion"] = "2";
  transport_.Answer(object);
  const auto wrote = policies_.Reconcile("p");
  ASSERT_TRUE(wrote.ok());
  EXPECT_EQ(wrote->requeue_after, kTrust);

  clock_.Advance(absl::Seconds(3));
  const auto same = policies_.Reconcile("p");
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(transport_.requests.size(), 1u);
  EXPECT_EQ(same->requeue_after, kTrust - absl::Seconds(3));

  caches_.policies.Upsert(object);
  const auto seen = policies_.Reconcile("p");
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->requeue_after, std::nullopt);
}

TEST_F(StatusControllersTest, ANodeIsLookedAtAgainWhenAWriteIsNoLongerTrusted) {
  kube::Json object = MakeNodeReclaim(*ConnectNode());
  object["metadata"]["uid"] = "uid-nr";
  object["metadata"]["resourceVersion"] = "1";
  caches_.node_reclaims.Upsert(object);
  const auto next = NextNodeStatus(book_.Find("n").observation,
                                   kswapd::v1alpha1::NodeReclaimStatus(), clock_.Now());
  object["status"] = MakeNodeReclaimStatus("n", next)["status"];
  object["metadata"]["resourceVersion"] = "2";
  transport_.Answer(object);
  const auto wrote = node_reclaims_.Reconcile("n");
  ASSERT_TRUE(wrote.ok()) << wrote.status();
  ASSERT_EQ(transport_.requests.size(), 1u);

  clock_.Advance(absl::Seconds(3));
  const auto same = node_reclaims_.Reconcile("n");
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(transport_.requests.size(), 1u);
  EXPECT_EQ(same->requeue_after, kTrust - absl::Seconds(3));
}

TEST_F(StatusControllersTest, AStatusOfAPolicyThatWaitsForItsTurnEndsNoBackOff) {
  StoreReleasedPolicy();
  transport_.Fail(absl::UnavailableError("API server away"));
  EXPECT_FALSE(policies_.Reconcile("p").ok());
  const auto waiting = policies_.Reconcile("p");
  ASSERT_TRUE(waiting.ok()) << waiting.status();
  EXPECT_TRUE(waiting->postponed);
  EXPECT_EQ(waiting->requeue_after, absl::Seconds(1));
}

TEST_F(StatusControllersTest, AStatusOfANodeThatWaitsForItsTurnEndsNoBackOff) {
  ConnectNode();
  transport_.Fail(absl::UnavailableError("API server away"));
  EXPECT_FALSE(node_reclaims_.Reconcile("n").ok());
  const auto waiting = node_reclaims_.Reconcile("n");
  ASSERT_TRUE(waiting.ok()) << waiting.status();
  EXPECT_TRUE(waiting->postponed);
}

}  // namespace
}  // namespace reclaim::op
