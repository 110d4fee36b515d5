// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/conditions.h"

#include <gtest/gtest.h>

namespace reclaim::op {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'100);
const char kNowText[] = "2026-09-21T14:15:00Z";

TEST(SetTransitionTimes, MovesOnlyWhenTheStatusChanges) {
  Conditions before;
  AddCondition(before, "Same", "True", "A", "m").set_last_transition_time("2026-01-01T00:00:00Z");
  AddCondition(before, "Flips", "True", "A", "m").set_last_transition_time("2026-01-01T00:00:00Z");
  AddCondition(before, "NeverSet", "True", "A", "m");
  Conditions now;
  AddCondition(now, "Same", "True", "OtherReason", "other message");
  AddCondition(now, "Flips", "False", "A", "m");
  AddCondition(now, "New", "True", "A", "m");
  AddCondition(now, "NeverSet", "True", "A", "m");
  SetTransitionTimes(before, kNow, now);
  EXPECT_EQ(now[0].last_transition_time(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(now[1].last_transition_time(), kNowText);
  EXPECT_EQ(now[2].last_transition_time(), kNowText);
  EXPECT_EQ(now[3].last_transition_time(), kNowText);
}

TEST(SaysTheSame, IgnoresTransitionTimesOnly) {
  kswapd::v1alpha1::ReclaimPolicyStatus a;
  AddCondition(*a.mutable_conditions(), "Ready", "True", "A", "m").set_last_transition_time("t1");
  kswapd::v1alpha1::ReclaimPolicyStatus b = a;
  b.mutable_conditions(0)->set_last_transition_time("t2");
  EXPECT_TRUE(SaysTheSame(a, b));
  b.mutable_conditions(0)->set_message("other");
  EXPECT_FALSE(SaysTheSame(a, b));
  b = a;
  b.mutable_nodes()->set_matched(1);
  EXPECT_FALSE(SaysTheSame(a, b));
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(Shorten("short", 10), "short");
  EXPECT_EQ(Shorten("exactly ten", 11), "exactly ten");
  EXPECT_EQ(Shorten("0123456789", 8), "01234…");
  // "ä" is two bytes and would be cut in half after four.
  EXPECT_EQ(Shorten("012äääää", 7), "012…");
  EXPECT_EQ(Shorten("0123ääää", 8), "0123…");
}

}  // namespace
}  // namespace reclaim::op
