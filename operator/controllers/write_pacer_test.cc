// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/write_pacer.h"

#include <gtest/gtest.h>

namespace reclaim::op {
namespace {

const WritePacerOptions kOptions = {.per_second = 10, .burst = 3, .per_key = absl::Seconds(1)};

TEST(WritePacer, SpacesTheWritesOfOneKey) {
  WritePacer pacer(kOptions);
  EXPECT_EQ(pacer.Take("a", absl::Seconds(100)), absl::ZeroDuration());
  EXPECT_EQ(pacer.Take("a", absl::Seconds(100.25)), absl::Milliseconds(750));
  EXPECT_EQ(pacer.Take("b", absl::Seconds(100.25)), absl::ZeroDuration());
  EXPECT_EQ(pacer.Take("a", absl::Seconds(101)), absl::ZeroDuration());
}

TEST(WritePacer, BoundsTheRateOfAllKeysTogether) {
  WritePacer pacer(kOptions);
  int written = 0;
  for (int i = 0; i < 1000; ++i) {
    // 1000 nodes in one second, each with news.
    if (pacer.Take(std::to_string(i), absl::Milliseconds(i)) == absl::ZeroDuration()) ++written;
  }
  EXPECT_GE(written, 12);
  EXPECT_LE(written, 13);  // the burst of 3, then 10 a second
}

TEST(WritePacer, SaysWhenToAskAgain) {
  WritePacer pacer(kOptions);
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(pacer.Take(key, absl::Seconds(5)), absl::ZeroDuration());
  }
  const absl::Duration wait = pacer.Take("d", absl::Seconds(5));
  EXPECT_EQ(wait, absl::Milliseconds(100));
  EXPECT_EQ(pacer.Take("d", absl::Seconds(5) + wait), absl::ZeroDuration());
}

TEST(WritePacer, ForgetsAKey) {
  WritePacer pacer(kOptions);
  EXPECT_EQ(pacer.Take("a", absl::Seconds(5)), absl::ZeroDuration());
  pacer.Forget("a");
  EXPECT_EQ(pacer.Take("a", absl::Seconds(5)), absl::ZeroDuration());
}

}  // namespace
}  // namespace reclaim::op
