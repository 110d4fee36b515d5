// SPDX-License-Identifier: Apache-2.0
#include "kube/work_queue.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/simulated_clock.h"
#include "common/testing/eventually.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

class WorkQueueTest : public ::testing::Test {
 protected:
  SimulatedClock clock_;
  WorkQueue queue_{clock_};
};

TEST_F(WorkQueueTest, HandsOutInOrderAndEachKeyOnce) {
  queue_.Add("a");
  queue_.Add("b");
  queue_.Add("a");
  EXPECT_EQ(queue_.depth(), 2);
  EXPECT_THAT(queue_.Get(), Optional(Eq("a")));
  EXPECT_THAT(queue_.Get(), Optional(Eq("b")));
  EXPECT_EQ(queue_.TryGet(), std::nullopt);
}

TEST_F(WorkQueueTest, AKeyAddedWhileUnderWorkComesAgainAfterDone) {
  queue_.Add("a");
  EXPECT_THAT(queue_.TryGet(), Optional(Eq("a")));
  queue_.Add("a");
  queue_.Add("a");
  EXPECT_EQ(queue_.TryGet(), std::nullopt);
  queue_.Done("a");
  EXPECT_THAT(queue_.TryGet(), Optional(Eq("a")));
  queue_.Done("a");
  EXPECT_EQ(queue_.TryGet(), std::nullopt);
}

TEST_F(WorkQueueTest, ADelayedKeyComesWhenItsTimeHasCome) {
  queue_.AddAfter("later", absl::Seconds(10));
  queue_.AddAfter("sooner", absl::Seconds(5));
  queue_.AddAfter("now", absl::ZeroDuration());
  EXPECT_THAT(queue_.TryGet(), Optional(Eq("now")));
  EXPECT_EQ(queue_.TryGet(), std::nullopt);
  clock_.Advance(absl::Seconds(10));
  EXPECT_THAT(queue_.TryGet(), Optional(Eq("sooner")));
  EXPECT_THAT(queue_.TryGet(), Optional(Eq("later")));
}

TEST_F(WorkQueueTest, OfSeveralDelaysOfAKeyTheEarliestHolds) {
  queue_.AddAfter("a", absl::Seconds(10));
  queue_.AddAfter("a", absl::Seconds(2));
  queue_.AddAfter("a", absl::Seconds(20));
  clock_.Advance(absl::Seconds(2));
  EXPECT_THAT(queue_.TryGet(), Optional(Eq("a")));
  queue_.Done("a");
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(queue_.TryGet(), std::nullopt);
}

TEST_F(WorkQueueTest, FailuresWaitLongerEachTimeUntilForgotten) {
  for (absl::Duration delay : {absl::Milliseconds(5), absl::Milliseconds(10)}) {
    queue_.AddRateLimited("a");
    clock_.Advance(delay - absl::Nanoseconds(1));
    EXPECT_EQ(queue_.TryGet(), std::nullopt);
    clock_.Advance(absl::Nanoseconds(1));
    EXPECT_THAT(queue_.TryGet(), Optional(Eq("a")));
    queue_.Done("a");
  }
  EXPECT_EQ(queue_.NumRequeues("a"), 2);
  queue_.Forget("a");
  EXPECT_EQ(queue_.NumRequeues("a"), 0);
}

TEST_F(WorkQueueTest, ShutDownHandsOutWhatWaitsAndTakesNothingIn) {
  queue_.Add("a");
  queue_.AddAfter("delayed", absl::Seconds(1));
  queue_.ShutDown();
  queue_.Add("b");
  queue_.AddRateLimited("c");
  clock_.Advance(absl::Minutes(1));
  EXPECT_THAT(queue_.Get(), Optional(Eq("a")));
  EXPECT_EQ(queue_.Get(), std::nullopt);
  EXPECT_TRUE(queue_.shutting_down());
}

class RecordingObserver : public WorkQueueObserver {
 public:
  void OnAdd(size_t depth) override { log.push_back(absl::StrCat("add ", depth)); }
  void OnGet(absl::Duration queued, size_t depth) override {
    log.push_back(absl::StrCat("get ", absl::FormatDuration(queued), " ", depth));
  }
  void OnDone(absl::Duration worked) override {
    log.push_back(absl::StrCat("done ", absl::FormatDuration(worked)));
  }
  void OnRetry() override { log.push_back("retry"); }

  std::vector<std::string> log;
};

TEST_F(WorkQueueTest, TellsItsObserverTimesAndDepths) {
  RecordingObserver observer;
  WorkQueue queue(clock_, {}, &observer);
  queue.Add("a");
  queue.Add("a");
  clock_.Advance(absl::Seconds(2));
  queue.TryGet();
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(queue.LongestRunning(), absl::Seconds(3));
  EXPECT_EQ(queue.UnfinishedWork(), absl::Seconds(3));
  queue.Done("a");
  queue.AddRateLimited("a");
  EXPECT_EQ(queue.LongestRunning(), absl::ZeroDuration());
  EXPECT_THAT(observer.log, ElementsAre("add 1", "get 2s 0", "done 3s", "retry"));
}

TEST(WorkQueueThreadsTest, AnAddWakesAWaiter) {
  SystemClock clock;
  WorkQueue queue(clock);
  std::thread worker([&] { EXPECT_THAT(queue.Get(), Optional(Eq("a"))); });
  queue.Add("a");
  worker.join();
}

TEST(WorkQueueThreadsTest, ADelayWakesAWaiterInTime) {
  SystemClock clock;
  WorkQueue queue(clock);
  std::thread worker([&] { EXPECT_THAT(queue.Get(), Optional(Eq("a"))); });
  queue.AddAfter("a", absl::Milliseconds(20));
  worker.join();
}

// The guarantees under load: no key on two threads at a time, and after the last Add of a key it
// is worked on at least once more.
TEST(WorkQueueThreadsTest, KeepsItsGuaranteesUnderLoad) {
  constexpr int kKeys = 7;
  constexpr int kAdds = 3000;
  SystemClock clock;
  WorkQueue queue(clock, {.base_delay = absl::Microseconds(10), .qps = 1e9, .burst = 1 << 30});
  std::atomic<int> active[kKeys] = {};
  std::atomic<int> wanted[kKeys] = {};
  std::atomic<int> seen[kKeys] = {};
  std::atomic<int> overlaps = 0;

  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      int turn = 0;
      while (std::optional<std::string> key = queue.Get()) {
        const int index = (*key)[0] - '0';
        if (active[index].fetch_add(1) != 0) ++overlaps;
        seen[index] = wanted[index].load();
        active[index].fetch_sub(1);
        if (++turn % 5 == 0) {
          queue.AddRateLimited(*key);
        } else {
          queue.Forget(*key);
        }
        queue.Done(*key);
      }
    });
  }
  std::vector<std::thread> producers;
  for (int i = 0; i < 2; ++i) {
    producers.emplace_back([&] {
      for (int n = 0; n < kAdds; ++n) {
        ++wanted[n % kKeys];
        queue.Add(std::string(1, static_cast<char>('0' + n % kKeys)));
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_TRUE(Eventually("every key to be worked on after its last add", [&] {
    for (int i = 0; i < kKeys; ++i) {
      if (seen[i] != wanted[i]) return false;
    }
    return true;
  }));
  queue.ShutDown();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace reclaim::kube
