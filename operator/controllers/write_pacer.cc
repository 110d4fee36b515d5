// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/write_pacer.h"

#include <algorithm>

namespace reclaim::op {

absl::Duration WritePacer::Take(absl::string_view key, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  const auto last = last_.find(key);
  if (last != last_.end() && now < last->second + options_.per_key) {
    return last->second + options_.per_key - now;
  }
  if (refilled_at_ != -absl::InfiniteDuration()) {
    tokens_ = std::min<double>(
        options_.burst, tokens_ + absl::ToDoubleSeconds(now - refilled_at_) * options_.per_second);
  }
  refilled_at_ = now;
  if (tokens_ < 1) return absl::Seconds((1 - tokens_) / options_.per_second);
  tokens_ -= 1;
  last_[key] = now;
  return absl::ZeroDuration();
}

void WritePacer::Forget(absl::string_view key) {
  absl::MutexLock lock(&mutex_);
  last_.erase(key);
}

}  // namespace reclaim::op
