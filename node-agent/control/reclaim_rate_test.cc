// SPDX-License-Identifier: Apache-2.0
#include "node-agent/control/reclaim_rate.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::agent {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kMi = int64_t{1024} * 1024;
constexpr absl::Duration kNow = absl::Seconds(1000);

RateProgress Fresh(size_t places, absl::Duration credit_at = kNow) {
  RateProgress progress;
  progress.credit_at = credit_at;
  progress.places.resize(places);
  return progress;
}

struct Case {
  const char* name;
  Rate rate;
  absl::Duration elapsed;
  size_t places;
  int64_t bytes;
  absl::Duration wait;
};

class NextReclaimChunkTest : public testing::TestWithParam<Case> {};

TEST_P(NextReclaimChunkTest, Table) {
  const Case& c = GetParam();
  const ReclaimChunk chunk =
      NextReclaimChunk(c.rate, Fresh(c.places, kNow - c.elapsed), kPage, kNow);
  EXPECT_EQ(chunk.bytes, c.bytes);
  EXPECT_EQ(absl::Trunc(chunk.wait, absl::Milliseconds(1)), c.wait);
}

const absl::Duration kEver = absl::InfiniteDuration();
INSTANTIATE_TEST_SUITE_P(
    Cases, NextReclaimChunkTest,
    testing::Values(
        Case{"RateOfZero", {0, absl::Seconds(1)}, absl::Hours(1), 1, 0, kEver},
        Case{"NoPlace", {kMi, absl::Seconds(1)}, absl::Hours(1), 0, 0, kEver},
        Case{"NoTimePassed", {kMi, absl::Seconds(1)}, absl::ZeroDuration(), 1, 0, absl::Seconds(1)},
        Case{"HalfWay",
             {kMi, absl::Seconds(1)},
             absl::Milliseconds(500),
             1,
             0,
             absl::Milliseconds(500)},
        Case{"ASecondsWorth", {2 * kMi, absl::Seconds(1)}, absl::Seconds(1), 1, 2 * kMi, {}},
        Case{"SmallRateSavesUp",
             {kMi, absl::Hours(1)},
             absl::Seconds(1),
             1,
             0,
             absl::Milliseconds(449000)},
        Case{"SmallRateThen128Ki",
             {kMi, absl::Hours(1)},
             absl::Minutes(8),
             1,
             int64_t{128} * 1024,
             {}},
        Case{"LargeRateIsCut", {1024 * kMi, absl::Seconds(1)}, absl::Seconds(1), 1, 16 * kMi, {}},
        Case{"LongPauseIsNotCaughtUp", {2 * kMi, absl::Seconds(1)}, absl::Hours(9), 1, 2 * kMi, {}},
        Case{"RoundedDownToPages",
             {int64_t{1000} * 1000, absl::Seconds(1)},
             absl::Seconds(1),
             1,
             244 * kPage,
             {}},
        Case{"ClockWentBack", {kMi, absl::Seconds(1)}, -absl::Seconds(5), 1, 0, absl::Seconds(1)}),
    [](const auto& info) { return info.param.name; });

TEST(NextReclaimChunkPlacesTest, TakeTurns) {
  const Rate rate{kMi, absl::Seconds(1)};
  RateProgress progress = Fresh(3, kNow - absl::Seconds(1));
  std::vector<size_t> turns;
  absl::Duration now = kNow;
  for (int i = 0; i < 4; ++i, now += absl::Seconds(1)) {
    const ReclaimChunk chunk = NextReclaimChunk(rate, progress, kPage, now);
    ASSERT_GT(chunk.bytes, 0);
    turns.push_back(chunk.place);
    progress = AfterChunk(progress, chunk, /*fruitless=*/false, now);
  }
  EXPECT_THAT(turns, testing::ElementsAre(0, 1, 2, 0));
}

TEST(NextReclaimChunkPlacesTest, AFruitlessOneRestsLongerEachTimeAndTheOthersGoOn) {
  const Rate rate{kMi, absl::Seconds(1)};
  RateProgress progress = Fresh(2, kNow - absl::Seconds(1));
  std::vector<int> fruitless_at;
  int fruitful = 0;
  for (int second = 0; second < 200; ++second) {
    const absl::Duration now = kNow + absl::Seconds(second);
    const ReclaimChunk chunk = NextReclaimChunk(rate, progress, kPage, now);
    if (chunk.bytes == 0) continue;
    if (chunk.place == 0) fruitless_at.push_back(second);
    if (chunk.place == 1) ++fruitful;
    progress = AfterChunk(progress, chunk, chunk.place == 0, now);
  }
  // Rests of 1, 2, 4 … 64 s, then the other one's turn first.
  EXPECT_THAT(fruitless_at, testing::ElementsAre(0, 2, 4, 8, 16, 32, 64, 128, 192));
  EXPECT_EQ(fruitful, 191);
}

TEST(NextReclaimChunkPlacesTest, WhenAllRestItWaitsForTheFirst) {
  RateProgress progress = Fresh(2, kNow - absl::Seconds(9));
  progress.places[0].rests_until = kNow + absl::Seconds(30);
  progress.places[1].rests_until = kNow + absl::Seconds(7);
  const ReclaimChunk chunk = NextReclaimChunk({kMi, absl::Seconds(1)}, progress, kPage, kNow);
  EXPECT_EQ(chunk.bytes, 0);
  EXPECT_EQ(chunk.wait, absl::Seconds(7));
}

TEST(AfterChunkTest, SuccessForgetsEarlierFailures) {
  RateProgress progress = Fresh(1);
  progress.places[0].fruitless = 5;
  const ReclaimChunk chunk =
      NextReclaimChunk({kMi, absl::Seconds(1)}, progress, kPage, kNow + absl::Seconds(1));
  progress = AfterChunk(progress, chunk, false, kNow + absl::Seconds(1));
  EXPECT_EQ(progress.places[0].fruitless, 0);
}

// Whatever the rate, the times of the calls and the kernel's answers: never more than the rate and
// one chunk, whole pages, bounded chunks, and no wait that ends before anything can happen.
TEST(NextReclaimChunkPropertyTest, NeverExceedsTheRate) {
  std::mt19937 random(20261130);
  for (int run = 0; run < 300; ++run) {
    const absl::Duration period =
        std::vector<absl::Duration>{absl::Seconds(1), absl::Minutes(1), absl::Hours(1)}[run % 3];
    const Rate rate{std::uniform_int_distribution<int64_t>(1, 1024 * kMi)(random), period};
    RateProgress progress = Fresh(std::uniform_int_distribution<size_t>(1, 4)(random));
    absl::Duration now = kNow;
    double asked = 0;
    for (int step = 0; step < 200; ++step) {
      const ReclaimChunk chunk = NextReclaimChunk(rate, progress, kPage, now);
      if (chunk.bytes > 0) {
        ASSERT_EQ(chunk.bytes % kPage, 0);
        ASSERT_LE(chunk.bytes, kMaxChunkBytes);
        ASSERT_LT(chunk.place, progress.places.size());
        asked += static_cast<double>(chunk.bytes);
        const double allowed = rate.BytesPerSecond() * absl::ToDoubleSeconds(now - kNow);
        ASSERT_LE(asked, allowed + static_cast<double>(chunk.bytes) + 1) << "run " << run;
        now += absl::Milliseconds(std::uniform_int_distribution<int>(0, 50)(random));
        progress = AfterChunk(progress, chunk, random() % 4 == 0, now);
      } else {
        ASSERT_GT(chunk.wait, absl::ZeroDuration());
        // Sometimes woken early, sometimes late.
        now += chunk.wait * std::uniform_real_distribution<double>(0.3, 2.0)(random);
      }
    }
  }
}

TEST(NextReclaimChunkPropertyTest, ReachesTheRateWhenTheKernelFollows) {
  for (const Rate rate : {Rate{64 * kMi, absl::Minutes(1)}, Rate{200 * kMi, absl::Seconds(1)},
                          Rate{3 * kMi + 17, absl::Seconds(1)}}) {
    RateProgress progress = Fresh(2);
    absl::Duration now = kNow;
    double asked = 0;
    while (now < kNow + absl::Minutes(10)) {
      const ReclaimChunk chunk = NextReclaimChunk(rate, progress, kPage, now);
      if (chunk.bytes == 0) {
        now += chunk.wait;
        continue;
      }
      asked += static_cast<double>(chunk.bytes);
      progress = AfterChunk(progress, chunk, false, now + absl::Milliseconds(2));
      now += absl::Milliseconds(2);
    }
    const double wanted = rate.BytesPerSecond() * 600;
    EXPECT_GT(asked, 0.98 * wanted) << rate.bytes;
    EXPECT_LT(asked, 1.02 * wanted) << rate.bytes;
  }
}

}  // namespace
}  // namespace reclaim::agent
