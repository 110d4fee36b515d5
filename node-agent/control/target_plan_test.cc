// SPDX-License-Identifier: Apache-2.0
#include "node-agent/control/target_plan.h"

#include "common/reasons.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace reclaim::agent {
namespace {

TargetPlan Plan(const char* text, const std::vector<std::string>& unimplemented = {}) {
  kswapd::v1alpha1::ProactiveReclaimTarget target;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &target)) << text;
  return PlanTarget(target, unimplemented);
}

TEST(PlanTargetTest, TakesARateOverNumaNodes) {
  const TargetPlan plan = Plan(
      "name: 'a' scope { numa_nodes: [0, 1] } goal { rate: '64Mi/m' } swappiness { number_value: 0 "
      "}");
  EXPECT_EQ(plan.refusal_reason, "");
  EXPECT_THAT(plan.numa_nodes, testing::ElementsAre(0, 1));
  EXPECT_EQ(plan.rate.bytes, 64 << 20);
  EXPECT_EQ(plan.rate.period, absl::Minutes(1));
  EXPECT_EQ(plan.swappiness, "0");
}

TEST(PlanTargetTest, TakesARateOverCgroups) {
  const TargetPlan plan = Plan(
      "name: 'a' scope { cgroups: '/x/*' } goal { rate: '1Mi/s' } swappiness { string_value: 'max' "
      "}");
  EXPECT_EQ(plan.refusal_reason, "");
  EXPECT_THAT(plan.cgroup_patterns, testing::ElementsAre("/x/*"));
  EXPECT_EQ(plan.swappiness, "max");
  EXPECT_EQ(Plan("scope { cgroups: '/x' } goal { rate: '1Mi/s' }").swappiness, "");
}

TEST(PlanTargetTest, DoesNotRunWithoutALimitThatItCannotKeep) {
  const TargetPlan plan =
      Plan("name: 'a' scope { numa_nodes: 0 } goal { rate: '1Mi/s' }", {"limits"});
  EXPECT_EQ(plan.refusal_reason, reason::kNotImplemented);
  EXPECT_THAT(plan.refusal_message, testing::HasSubstr("limits"));
}

TEST(PlanTargetTest, RefusesWhatIsWrong) {
  for (const char* bad : {
           "scope {} goal { rate: '1Mi/s' }",
           "scope { numa_nodes: 0 cgroups: '/x' } goal { rate: '1Mi/s' }",
           "scope { numa_nodes: 0 } goal { rate: 'fast' }",
           "scope { numa_nodes: 0 } goal { rate: '1Mi/s' } swappiness { number_value: 201 }",
           "scope { numa_nodes: 0 } goal { rate: '1Mi/s' } swappiness { number_value: 0.5 }",
           "scope { numa_nodes: 0 } goal { rate: '1Mi/s' } swappiness { string_value: '60' }",
           "scope { numa_nodes: 0 } goal { rate: '1Mi/s' } swappiness { bool_value: true }",
       }) {
    EXPECT_EQ(Plan(bad).refusal_reason, reason::kInvalid) << bad;
  }
}

}  // namespace
}  // namespace reclaim::agent
