// SPDX-License-Identifier: Apache-2.0
#include "common/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace reclaim {

absl::Time SystemClock::Now() { return absl::Now(); }

absl::Duration SystemClock::Monotonic() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace reclaim
