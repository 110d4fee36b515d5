// SPDX-License-Identifier: Apache-2.0
#include "kube/backoff.h"

#include <algorithm>

namespace reclaim::kube {

absl::Duration Backoff::Next(absl::Duration now, double random) {
  if (now - last_use_ > options_.reset_after) next_ = options_.initial;
  const absl::Duration base = next_;
  next_ = std::min(next_ * 2, options_.max);
  const absl::Duration delay = base * (1 + random);
  last_use_ = now + delay;
  return delay;
}

}  // namespace reclaim::kube
