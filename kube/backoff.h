// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_BACKOFF_H_
#define RECLAIM_KUBE_BACKOFF_H_

#include "absl/time/time.h"

namespace reclaim::kube {

// Defaults: those of client-go's reflector.
struct BackoffOptions {
  absl::Duration initial = absl::Milliseconds(800);
  absl::Duration max = absl::Seconds(30);
  // Not asked for a delay for this long: healthy again, start over.
  absl::Duration reset_after = absl::Minutes(2);
};

// How long to wait before the next attempt: doubling from `initial` to `max`, plus up to as much
// again, so that many clients of one server that came back do not all return at once.
//
// Not thread-safe; no clock and no randomness inside.
class Backoff {
 public:
  explicit Backoff(const BackoffOptions& options) : options_(options), next_(options.initial) {}

  //   now     Clock::Monotonic
  //   random  in [0, 1)
  absl::Duration Next(absl::Duration now, double random);

 private:
  BackoffOptions options_;
  absl::Duration next_;
  absl::Duration last_use_ = -absl::InfiniteDuration();
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_BACKOFF_H_
