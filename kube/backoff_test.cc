// SPDX-License-Identifier: Apache-2.0
#include "kube/backoff.h"

#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

TEST(BackoffTest, DoublesUpToTheMaximumAndAddsJitter) {
  Backoff backoff(BackoffOptions{});
  absl::Duration now = absl::Seconds(5);
  for (double expected : {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0}) {
    const absl::Duration delay = backoff.Next(now, 0);
    EXPECT_EQ(delay, absl::Seconds(expected));
    now += delay;
  }
  EXPECT_EQ(backoff.Next(now, 0.5), absl::Seconds(45));
}

TEST(BackoffTest, StartsOverAfterTwoHealthyMinutes) {
  Backoff backoff(BackoffOptions{});
  absl::Duration now = absl::ZeroDuration();
  for (int i = 0; i < 4; ++i) now += backoff.Next(now, 0);
  EXPECT_EQ(backoff.Next(now + absl::Minutes(2), 0), absl::Seconds(12.8));
  now += absl::Minutes(2) + absl::Seconds(12.8);
  EXPECT_EQ(backoff.Next(now + absl::Minutes(2) + absl::Seconds(1), 0), absl::Seconds(0.8));
}

}  // namespace
}  // namespace reclaim::kube
