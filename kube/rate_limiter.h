// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_RATE_LIMITER_H_
#define RECLAIM_KUBE_RATE_LIMITER_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace reclaim::kube {

// Defaults: client-go's DefaultControllerRateLimiter.
struct RateLimiterOptions {
  absl::Duration base_delay = absl::Milliseconds(5);
  absl::Duration max_delay = absl::Seconds(1000);
  double qps = 10;  // of the bucket that all keys share
  int burst = 100;
};

// How long a failed key waits before it is tried again: the longer of base_delay·2^failures and
// what a bucket shared by all keys allows.
//
// Not thread-safe (the work queue holds its lock). Times are Clock::Monotonic.
class RateLimiter {
 public:
  explicit RateLimiter(const RateLimiterOptions& options = {});

  // Counts one failure of `key` and takes one token of the bucket.
  absl::Duration Next(absl::string_view key, absl::Duration now);

  // `key` has succeeded.
  void Forget(absl::string_view key);

  // Failures of `key` since it was last forgotten.
  int Failures(absl::string_view key) const;

 private:
  const RateLimiterOptions options_;
  absl::flat_hash_map<std::string, int> failures_;
  double tokens_;  // below 0: taken ahead of time
  absl::Duration refilled_at_ = -absl::InfiniteDuration();
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_RATE_LIMITER_H_
