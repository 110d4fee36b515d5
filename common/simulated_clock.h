// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_SIMULATED_CLOCK_H_
#define RECLAIM_COMMON_SIMULATED_CLOCK_H_

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"

namespace reclaim {

// A clock that stands still until a test moves it. Thread-safe.
class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(absl::Time start = absl::FromUnixSeconds(1'790'000'000)) : now_(start) {}

  absl::Time Now() override {
    absl::MutexLock lock(&mutex_);
    return now_;
  }
  absl::Duration Monotonic() override {
    absl::MutexLock lock(&mutex_);
    return monotonic_;
  }

  // Moves both clocks forward.
  void Advance(absl::Duration by) {
    absl::MutexLock lock(&mutex_);
    now_ += by;
    monotonic_ += by;
  }

 private:
  absl::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_);
  absl::Duration monotonic_ ABSL_GUARDED_BY(mutex_) = absl::Seconds(1000);
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_SIMULATED_CLOCK_H_
