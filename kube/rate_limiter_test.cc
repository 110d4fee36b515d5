// SPDX-License-Identifier: Apache-2.0
#include "kube/rate_limiter.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

constexpr RateLimiterOptions kWithoutBucket{.qps = 1e9, .burst = 1'000'000};

TEST(RateLimiterTest, DelayDoublesForEachFailureOfAKeyAndIsCapped) {
  RateLimiter limiter(kWithoutBucket);
  const absl::Duration now = absl::Seconds(1);
  EXPECT_EQ(limiter.Next("a", now), absl::Milliseconds(5));
  EXPECT_EQ(limiter.Next("a", now), absl::Milliseconds(10));
  EXPECT_EQ(limiter.Next("a", now), absl::Milliseconds(20));
  EXPECT_EQ(limiter.Next("b", now), absl::Milliseconds(5));
  EXPECT_EQ(limiter.Failures("a"), 3);
  for (int i = 0; i < 200; ++i) limiter.Next("a", now);
  EXPECT_EQ(limiter.Next("a", now), absl::Seconds(1000));
}

TEST(RateLimiterTest, ForgettingStartsOver) {
  RateLimiter limiter(kWithoutBucket);
  limiter.Next("a", absl::Seconds(1));
  limiter.Next("a", absl::Seconds(1));
  limiter.Forget("a");
  EXPECT_EQ(limiter.Failures("a"), 0);
  EXPECT_EQ(limiter.Next("a", absl::Seconds(1)), absl::Milliseconds(5));
}

TEST(RateLimiterTest, AllKeysShareOneBucketThatRefills) {
  RateLimiter limiter;
  absl::Duration now = absl::Seconds(50);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(limiter.Next(absl::StrCat("burst", i), now), absl::Milliseconds(5)) << i;
  }
  EXPECT_EQ(limiter.Next("over1", now), absl::Milliseconds(100));
  EXPECT_EQ(limiter.Next("over2", now), absl::Milliseconds(200));
  now += absl::Seconds(1);  // ten tokens more, two are spoken for
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(limiter.Next(absl::StrCat("later", i), now), absl::Milliseconds(5)) << i;
  }
  EXPECT_EQ(limiter.Next("over3", now), absl::Milliseconds(100));
}

}  // namespace
}  // namespace reclaim::kube
