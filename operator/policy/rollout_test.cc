// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/rollout.h"

#include <gtest/gtest.h>

#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'100);
const char kTwo[] = R"({"kswapd":{"workers":2}})";
const char kThree[] = R"({"kswapd":{"workers":3}})";

kswapd::v1alpha1::NodeCounts Counts(int matched, int updated) {
  kswapd::v1alpha1::NodeCounts counts;
  counts.set_matched(matched);
  counts.set_updated(updated);
  return counts;
}

TEST(NextRollout, ReleasesANewPolicyToTheWholeFleet) {
  const Policy policy = NewPolicy("a", kTwo);
  const auto next = NextRollout(policy, Counts(0, 0), kNow);
  EXPECT_EQ(next.current_revision(), policy.revision);
  EXPECT_EQ(next.update_revision(), policy.revision);
  EXPECT_EQ(next.step(), 0);
  EXPECT_EQ(next.threshold(), 2147483647);
  EXPECT_EQ(next.since(), "2026-09-21T14:15:00Z");
}

TEST(NextRollout, AnEditMovesTheUpdateAndRemembersTheCurrent) {
  const Policy old = ReleasedPolicy("a", kTwo);
  const Policy policy = Edited(old, kThree);
  const auto next = NextRollout(policy, Counts(3, 3), kNow);
  EXPECT_EQ(next.current_revision(), old.revision);
  EXPECT_EQ(next.update_revision(), policy.revision);
  EXPECT_EQ(next.since(), "2026-09-21T14:15:00Z");
}

TEST(NextRollout, TheUpdateBecomesCurrentWhenEveryNodeRunsIt) {
  Policy policy = ReleasedPolicy("a", kTwo);
  policy.status.mutable_rollout()->set_current_revision("older");
  EXPECT_EQ(NextRollout(policy, Counts(3, 2), kNow).current_revision(), "older");
  EXPECT_EQ(NextRollout(policy, Counts(3, 3), kNow).current_revision(), policy.revision);
}

TEST(NextRollout, RepairsAStepThatThisVersionDoesNotHave) {
  Policy policy = ReleasedPolicy("a", kTwo);
  policy.status.mutable_rollout()->set_threshold(7);
  policy.status.mutable_rollout()->set_step(3);
  const auto next = NextRollout(policy, Counts(3, 3), kNow);
  EXPECT_EQ(next.threshold(), 2147483647);
  EXPECT_EQ(next.step(), 0);
}

TEST(NextRollout, StandsStillWhenNothingChanged) {
  const Policy policy = ReleasedPolicy("a", kTwo);
  EXPECT_EQ(NextRollout(policy, Counts(3, 3), kNow).SerializeAsString(),
            policy.status.rollout().SerializeAsString());
}

TEST(NextRollout, APausedOrInvalidEditIsNotReleased) {
  const Policy old = ReleasedPolicy("a", kTwo);
  const Policy paused = Edited(old, R"({"kswapd":{"workers":3},"paused":true})");
  EXPECT_EQ(NextRollout(paused, Counts(3, 3), kNow).update_revision(), old.revision);
  Policy invalid = Edited(old, kThree);
  invalid.invalid = "spec.kswapd.workers is wrong";
  EXPECT_EQ(NextRollout(invalid, Counts(3, 3), kNow).update_revision(), old.revision);
}

const char kCanary[] =
    R"({"kswapd":{"workers":3},"rollout":{"steps":[{"nodes":1,"soak":"10m"},{"nodes":"100%"}]}})";

TEST(NextRollout, AChangeThatAsksForStepsIsNotReleased) {
  const Policy old = ReleasedPolicy("a", kTwo);
  EXPECT_EQ(NextRollout(Edited(old, kCanary), Counts(3, 3), kNow).SerializeAsString(),
            old.status.rollout().SerializeAsString());
  EXPECT_EQ(NextRollout(NewPolicy("a", kCanary), Counts(0, 0), kNow).ByteSizeLong(), 0u);
  const Policy way_out = Edited(Edited(old, kCanary), kThree);
  EXPECT_EQ(NextRollout(way_out, Counts(3, 3), kNow).update_revision(), way_out.revision);
}

TEST(NextRollout, WhatIsReleasedBecomesCurrentAlsoWhenStepsAreAskedForLater) {
  Policy policy = Edited(ReleasedPolicy("a", kThree), kCanary);
  policy.status.mutable_rollout()->set_current_revision("older");
  EXPECT_EQ(NextRollout(policy, Counts(3, 3), kNow).current_revision(), policy.revision);
}

TEST(NextRollout, APolicyThatIsPausedFromTheStartIsNotReleased) {
  EXPECT_EQ(NextRollout(NewPolicy("a", R"({"paused":true})"), Counts(0, 0), kNow).ByteSizeLong(),
            0u);
}

}  // namespace
}  // namespace reclaim::op
