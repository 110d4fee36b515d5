// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_RETRY_BACKOFF_H_
#define RECLAIM_NODE_AGENT_APPLY_RETRY_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"

namespace reclaim::agent {

// When an action that keeps failing may be tried again: 10 s after the first time, twice as long
// after each further one, at most 5 min. Plain data; all times are monotonic.
struct RetryBackoff {
  static constexpr absl::Duration kFirst = absl::Seconds(10);
  static constexpr absl::Duration kLongest = absl::Minutes(5);

  int failures = 0;
  absl::Duration not_before = -absl::InfiniteDuration();

  bool Waiting(absl::Duration now) const { return now < not_before; }

  void Failed(absl::Duration now) {
    // 10 s * 2^5 is above the longest already; more would only overflow.
    const int doublings = std::min(failures, 5);
    ++failures;
    not_before = now + std::min(kFirst * (1 << doublings), kLongest);
  }

  void Reset() { *this = RetryBackoff(); }
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_RETRY_BACKOFF_H_
