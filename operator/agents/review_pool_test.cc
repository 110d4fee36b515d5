// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/review_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "common/simulated_clock.h"
#include "common/testing/eventually.h"

namespace reclaim::op {
namespace {

// Blocks each review until told to go on.
class BlockingReviewer : public TokenReviewer {
 public:
  absl::StatusOr<kube::TokenIdentity> Review(absl::string_view token) override {
    const int now = ++running;
    int seen = most_running;
    while (now > seen && !most_running.compare_exchange_weak(seen, now)) {
    }
    go_on.WaitForNotification();
    --running;
    ++done;
    kube::TokenIdentity identity;
    identity.username = std::string(token);
    return identity;
  }

  absl::Notification go_on;
  std::atomic<int> running = 0;
  std::atomic<int> most_running = 0;
  std::atomic<int> done = 0;
};

TEST(ReviewPool, BoundsWhatRunsAndWhatWaits) {
  BlockingReviewer reviewer;
  SimulatedClock clock;
  std::atomic<int> answered = 0;
  {
    ReviewPool pool(reviewer, clock, {.threads = 2, .max_waiting = 3});
    const auto submit = [&] {
      return pool.Submit("t", [&](const absl::StatusOr<kube::TokenIdentity>& review) {
        EXPECT_TRUE(review.ok());
        ++answered;
      });
    };
    ASSERT_TRUE(submit());
    ASSERT_TRUE(submit());
    ASSERT_TRUE(Eventually("two reviews to run", [&] { return reviewer.running == 2; }));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(submit());
    EXPECT_FALSE(submit());
    reviewer.go_on.Notify();
    ASSERT_TRUE(Eventually("all to be answered", [&] { return answered == 5; }));
  }
  EXPECT_EQ(reviewer.most_running, 2);
}

TEST(ReviewPool, DoesNotMakeAReviewThatWaitedTooLong) {
  BlockingReviewer reviewer;
  SimulatedClock clock;
  ReviewPool pool(reviewer, clock, {.threads = 1, .max_wait = absl::Seconds(10)});
  ASSERT_TRUE(pool.Submit("first", [](const absl::StatusOr<kube::TokenIdentity>&) {}));
  ASSERT_TRUE(Eventually("the first to run", [&] { return reviewer.running == 1; }));
  absl::Notification answered;
  absl::Status late;
  ASSERT_TRUE(pool.Submit("late", [&](const absl::StatusOr<kube::TokenIdentity>& review) {
    late = review.status();
    answered.Notify();
  }));
  clock.Advance(absl::Seconds(11));
  reviewer.go_on.Notify();
  ASSERT_TRUE(answered.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
  EXPECT_EQ(reviewer.done, 1);
}

TEST(ReviewPool, StopAnswersWhatStillWaits) {
  BlockingReviewer reviewer;
  SimulatedClock clock;
  ReviewPool pool(reviewer, clock, {.threads = 1});
  ASSERT_TRUE(pool.Submit("first", [](const absl::StatusOr<kube::TokenIdentity>&) {}));
  ASSERT_TRUE(Eventually("the first to run", [&] { return reviewer.running == 1; }));
  std::atomic<bool> unavailable = false;
  ASSERT_TRUE(pool.Submit("second", [&](const absl::StatusOr<kube::TokenIdentity>& review) {
    unavailable = absl::IsUnavailable(review.status());
  }));
  std::thread stopper([&] { pool.Stop(); });
  ASSERT_TRUE(Eventually("the pool to take nothing more", [&] {
    return !pool.Submit("x", [](const absl::StatusOr<kube::TokenIdentity>&) {});
  }));
  reviewer.go_on.Notify();
  stopper.join();
  EXPECT_TRUE(unavailable);
  EXPECT_EQ(reviewer.done, 1);
}

}  // namespace
}  // namespace reclaim::op
