// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_WRITE_PACER_H_
#define RECLAIM_OPERATOR_CONTROLLERS_WRITE_PACER_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace reclaim::op {

struct WritePacerOptions {
  double per_second = 50;  // of all keys together, on average
  int burst = 100;
  // Of one key: what changes faster is coalesced.
  absl::Duration per_key = absl::Seconds(1);
};

// When a status may be written, so that a fleet that changes all at once does not become a storm of
// writes. A write that may go ahead is counted; one that may not is for its caller to try later.
//
// Times are Clock::Monotonic. Thread-safe.
class WritePacer {
 public:
  explicit WritePacer(const WritePacerOptions& options = {})
      : options_(options), tokens_(options.burst) {}

  // Zero: write now. Otherwise nothing is counted; ask again after that long.
  absl::Duration Take(absl::string_view key, absl::Duration now);

  // `key` is gone.
  void Forget(absl::string_view key);

 private:
  const WritePacerOptions options_;
  absl::Mutex mutex_;
  double tokens_ ABSL_GUARDED_BY(mutex_);
  absl::Duration refilled_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  absl::flat_hash_map<std::string, absl::Duration> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_WRITE_PACER_H_
