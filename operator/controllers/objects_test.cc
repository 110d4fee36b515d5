// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/policy/content_hash.h"
#include "operator/policy/selector.h"

namespace reclaim::op {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

kube::Json Parse(const char* text) { return *kube::ParseJson(text, "test"); }

kube::Json PolicyWith(const char* spec) {
  kube::Json object = Parse(R"({"apiVersion":"kswapd.dev/v1alpha1","kind":"ReclaimPolicy",
    "metadata":{"name":"p","uid":"u","resourceVersion":"7","generation":3,
                "creationTimestamp":"2026-11-30T18:00:00Z"},
    "status":{"rollout":{"updateRevision":"r","threshold":2147483647}}})");
  object["spec"] = Parse(spec);
  return object;
}

TEST(ProjectPolicy, ReadsSpecStatusAndMetadata) {
  const auto stored = ProjectPolicy(PolicyWith(R"({"kswapd":{"workers":4},"priority":9})"));
  ASSERT_TRUE(stored.ok()) << stored.status();
  const Policy& policy = stored->policy;
  EXPECT_EQ(policy.name, "p");
  EXPECT_EQ(policy.uid, "u");
  EXPECT_EQ(policy.generation, 3);
  EXPECT_EQ(policy.created, absl::FromUnixSeconds(1796061600));
  EXPECT_EQ(policy.spec.kswapd().workers(), 4);
  EXPECT_EQ(policy.revision, RevisionOf(policy.spec));
  EXPECT_EQ(policy.status.rollout().update_revision(), "r");
  EXPECT_EQ(policy.invalid, "");
  EXPECT_EQ(stored->resource_version, "7");
}

TEST(ProjectPolicy, DoesNotApplyASpecWithPartsThatItDoesNotKnow) {
  struct Case {
    const char* spec;
    const char* named;
  };
  for (const Case& c : {
           Case{R"({"priority":9,"ofTheFuture":{"x":1}})", "spec.ofTheFuture"},
           Case{R"({"priority":9,"kswapd":{"workers":4,"affinity":"near"}})",
                "spec.kswapd.affinity"},
           Case{R"({"priority":9,"mode":"DryRun"})", "spec.mode: DryRun"},
           Case{R"({"priority":9,"rollout":{"steps":[{"nodes":1},{"nodes":"10%","zone":"a"}]}})",
                "spec.rollout.steps[1].zone"},
           Case{R"({"priority":9,"rollout":{"onFailure":"Explode"},"x":null})",
                "spec.rollout.onFailure: Explode, spec.x"},
       }) {
    SCOPED_TRACE(c.spec);
    const auto stored = ProjectPolicy(PolicyWith(c.spec));
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_EQ(stored->policy.invalid,
              absl::StrCat("this version of the operator does not know ", c.named,
                           "; upgrade it or take that out of the spec"));
    EXPECT_EQ(stored->policy.spec.priority(), 9);
  }
}

TEST(ProjectPolicy, KnowsLabelsWithAnyKeyAndStepsInBothForms) {
  const auto stored = ProjectPolicy(PolicyWith(
      R"({"nodeSelector":{"matchLabels":{"a.b/c":"d"}},"mode":"Observe",
          "rollout":{"steps":[{"nodes":1},{"nodes":"100%"}],"onFailure":"Pause"}})"));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->policy.invalid, "");
}

TEST(ProjectPolicy, LeavesOutWhatItDoesNotKnowOfAStatus) {
  kube::Json object = PolicyWith("{}");
  object["status"]["ofTheFuture"] = 1;
  const auto stored = ProjectPolicy(object);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->policy.status.rollout().update_revision(), "r");
}

TEST(ProjectPolicy, SaysWhatIsWrongAndStillKnowsWhomItSelects) {
  for (const char* spec :
       {R"({"kswapd":{"workers":99},"priority":9,"nodeSelector":{"matchLabels":{"a":"b"}}})",
        R"({"kswapd":"four","priority":9,"nodeSelector":{"matchLabels":{"a":"b"}}})"}) {
    SCOPED_TRACE(spec);
    const auto stored = ProjectPolicy(PolicyWith(spec));
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_THAT(stored->policy.invalid, HasSubstr("kswapd"));
    EXPECT_EQ(stored->policy.spec.priority(), 9);
    EXPECT_TRUE(Matches(stored->policy.spec.node_selector(), {{"a", "b"}}));
    EXPECT_FALSE(Matches(stored->policy.spec.node_selector(), {}));
  }
}

TEST(ProjectPolicy, RefusesWhatCannotBePlaced) {
  EXPECT_FALSE(ProjectPolicy(PolicyWith(R"({"nodeSelector":"all"})")).ok());
  EXPECT_FALSE(ProjectPolicy(Parse("{}")).ok());
  kube::Json object = PolicyWith("{}");
  object["metadata"]["creationTimestamp"] = "yesterday";
  EXPECT_FALSE(ProjectPolicy(object).ok());
}

TEST(ProjectNode, KeepsAFewWords) {
  const auto node = ProjectNode(Parse(R"({"metadata":{"name":"n","uid":"u",
      "labels":{"topology.kubernetes.io/zone":"z1","a":"b"}},
    "spec":{"unschedulable":true},
    "status":{"conditions":[{"type":"MemoryPressure","status":"False"},
                            {"type":"Ready","status":"True"}]}})"));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->name, "n");
  EXPECT_EQ(node->uid, "u");
  EXPECT_EQ(node->zone, "z1");
  EXPECT_TRUE(node->ready);
  EXPECT_TRUE(node->unschedulable);
  EXPECT_THAT(node->labels,
              UnorderedElementsAre(Pair("topology.kubernetes.io/zone", "z1"), Pair("a", "b")));
}

TEST(ProjectNode, ANodeThatHasJustJoinedIsNotReady) {
  const auto node = ProjectNode(Parse(R"({"metadata":{"name":"n","uid":"u"}})"));
  ASSERT_TRUE(node.ok());
  EXPECT_FALSE(node->ready);
  EXPECT_FALSE(node->unschedulable);
}

TEST(NodeReclaim, SurvivesTheWayThroughTheApi) {
  Node node;
  node.name = "n";
  node.uid = "u";
  kube::Json object = MakeNodeReclaim(node);
  kswapd::v1alpha1::NodeReclaimStatus status;
  status.mutable_workers()->set_desired("4");
  auto& feature = *status.mutable_kernel()->add_features();
  feature.set_name("kswapdThreads");
  status.add_settings()->set_name("vm.swappiness");
  status.mutable_settings(0)->set_numa_node(0);
  object["status"] = MakeNodeReclaimStatus("n", status)["status"];
  EXPECT_EQ(object["status"]["kernel"]["features"][0]["supported"], false);
  EXPECT_EQ(object["status"]["settings"][0]["numaNode"], 0);
  const auto read = ProjectNodeReclaim(object);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->owner_uid, "u");
  EXPECT_EQ(SerializeDeterministically(read->status), SerializeDeterministically(status));
}

TEST(PolicyStatus, WritesCountsThatAreZero) {
  kswapd::v1alpha1::ReclaimPolicyStatus status;
  status.mutable_nodes()->set_matched(2);
  const kube::Json object = MakePolicyStatus("p", "u", status);
  EXPECT_EQ(object["metadata"]["uid"], "u");
  EXPECT_EQ(object["status"]["nodes"]["matched"], 2);
  EXPECT_EQ(object["status"]["nodes"]["applied"], 0);
  EXPECT_FALSE(object["status"].contains("rollout"));
}

TEST(NodeReclaim, AStatusThatCannotBeReadCountsAsEmpty) {
  const auto read = ProjectNodeReclaim(
      Parse(R"({"metadata":{"name":"n","uid":"u"},"status":{"workers":"four"}})"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->status.ByteSizeLong(), 0u);
}

}  // namespace
}  // namespace reclaim::op
