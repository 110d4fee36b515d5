// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stdexcept>

#include "absl/synchronization/mutex.h"
#include "common/testing/eventually.h"
#include "kube/status.h"
#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {
namespace {

class ControllerTest : public testing::Test {
 protected:
  double Count(const char* result) {
    return CounterOf(registry_, rows::kReconcileTotal, {"test", result}).Value();
  }

  SystemClock clock_;
  prometheus::Registry registry_;
};

TEST_F(ControllerTest, TriesAgainUntilItSucceeds) {
  std::atomic<int> calls = 0;
  Controller controller(
      "test", 2,
      [&](const std::string& key) -> absl::StatusOr<ReconcileResult> {
        EXPECT_EQ(key, "a");
        if (++calls < 3) return absl::UnavailableError("API server away");
        return ReconcileResult{};
      },
      clock_, registry_);
  controller.Start();
  controller.Add("a");
  ASSERT_TRUE(Eventually("success", [&] { return Count("success") == 1; }));
  controller.Stop();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(Count("error"), 2);
}

TEST_F(ControllerTest, DoesNotRepeatWhatTheServerFindsInvalid) {
  std::atomic<int> bad_calls = 0;
  Controller controller(
      "test", 1,
      [&](const std::string& key) -> absl::StatusOr<ReconcileResult> {
        if (key == "good") return ReconcileResult{};
        ++bad_calls;
        return kube::MakeApiStatus("PATCH x", 422, "{}");
      },
      clock_, registry_);
  controller.Start();
  controller.Add("bad");
  ASSERT_TRUE(Eventually("the refusal", [&] { return Count("error") == 1; }));
  controller.AddAfter("good", absl::Milliseconds(300));  // later than a first retry would be
  ASSERT_TRUE(Eventually("the other key", [&] { return Count("success") == 1; }));
  EXPECT_EQ(bad_calls, 1);
}

TEST_F(ControllerTest, AnExceptionIsAFailureOfItsKeyAlone) {
  std::atomic<int> bad_calls = 0;
  Controller controller(
      "test", 1,
      [&](const std::string& key) -> absl::StatusOr<ReconcileResult> {
        if (key == "good") return ReconcileResult{};
        switch (++bad_calls) {
          case 1:
            throw std::runtime_error("type must be object, but is null");
          case 2:
            throw 3;
          default:
            return ReconcileResult{};
        }
      },
      clock_, registry_);
  controller.Start();
  controller.Add("bad");
  controller.Add("good");
  ASSERT_TRUE(Eventually("both keys", [&] { return Count("success") == 2; }));
  controller.Stop();
  EXPECT_EQ(bad_calls, 3);
  EXPECT_EQ(Count("error"), 2);
  EXPECT_EQ(CounterOf(registry_, rows::kReconcileErrors, {"test"}).Value(), 2);
}

TEST_F(ControllerTest, LooksAgainWhenAskedTo) {
  std::atomic<int> calls = 0;
  Controller controller(
      "test", 1,
      [&](const std::string&) -> absl::StatusOr<ReconcileResult> {
        if (++calls == 1) return ReconcileResult{absl::Milliseconds(20)};
        return ReconcileResult{};
      },
      clock_, registry_);
  controller.Start();
  controller.Add("a");
  EXPECT_TRUE(Eventually("the second look", [&] { return Count("success") == 1; }));
  EXPECT_EQ(Count("requeue_after"), 1);
}

TEST_F(ControllerTest, APostponedKeyKeepsItsBackOff) {
  std::atomic<int> calls = 0;
  Controller controller(
      "test", 1,
      [&](const std::string&) -> absl::StatusOr<ReconcileResult> {
        if (++calls % 2 == 1) return absl::UnavailableError("API server away");
        return ReconcileResult{.requeue_after = absl::Milliseconds(1), .postponed = true};
      },
      clock_, registry_);
  controller.Start();
  controller.Add("a");
  EXPECT_TRUE(Eventually("three failures in a row",
                         [&] { return controller.queue().NumRequeues("a") >= 3; }));
}

TEST_F(ControllerTest, NeverWorksOnAKeyTwiceAtATimeAndLosesNoChange) {
  absl::Mutex mutex;
  std::map<std::string, int> running;
  std::map<std::string, int> seen;
  std::map<std::string, int> wanted;
  Controller controller(
      "test", 4,
      [&](const std::string& key) -> absl::StatusOr<ReconcileResult> {
        int value;
        {
          absl::MutexLock lock(&mutex);
          EXPECT_EQ(++running[key], 1);
          value = wanted[key];
        }
        absl::MutexLock lock(&mutex);
        --running[key];
        seen[key] = value;
        return ReconcileResult{};
      },
      clock_, registry_);
  controller.Start();
  for (int i = 1; i <= 500; ++i) {
    const std::string key = std::to_string(i % 3);
    {
      absl::MutexLock lock(&mutex);
      wanted[key] = i;
    }
    controller.Add(key);
  }
  controller.Stop();  // works off what waits
  absl::MutexLock lock(&mutex);
  EXPECT_EQ(seen, wanted);
}

}  // namespace
}  // namespace reclaim::op
