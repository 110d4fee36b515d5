// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_CLOCK_H_
#define RECLAIM_COMMON_CLOCK_H_

#include "absl/time/time.h"

namespace reclaim {

// Time as a dependency, so that tests move it by hand.
//
// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall time: for timestamps that people and other machines read. It may jump.
  virtual absl::Time Now() = 0;

  // Time since an arbitrary start that never goes back: for ages, back-offs and rates.
  virtual absl::Duration Monotonic() = 0;
};

// The machine's clocks.
class SystemClock : public Clock {
 public:
  absl::Time Now() override;
  absl::Duration Monotonic() override;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_CLOCK_H_
