// SPDX-License-Identifier: Apache-2.0
#include "kube/rate_limiter.h"

#include <algorithm>

namespace reclaim::kube {
namespace {

// base·2^62 is beyond every maximum, and the shift stays in range.
constexpr int kMaxDoublings = 62;

}  // namespace

RateLimiter::RateLimiter(const RateLimiterOptions& options)
    : options_(options), tokens_(options.burst) {}

absl::Duration RateLimiter::Next(absl::string_view key, absl::Duration now) {
  int& failures = failures_[std::string(key)];
  const absl::Duration backoff = std::min(
      options_.base_delay * (int64_t{1} << std::min(failures, kMaxDoublings)), options_.max_delay);
  if (failures <= kMaxDoublings) ++failures;

  const double refill = absl::ToDoubleSeconds(now - refilled_at_) * options_.qps;
  tokens_ = std::min(tokens_ + refill, static_cast<double>(options_.burst)) - 1;
  refilled_at_ = now;
  const absl::Duration bucket =
      tokens_ >= 0 ? absl::ZeroDuration() : absl::Seconds(-tokens_ / options_.qps);
  return std::max(backoff, bucket);
}

void RateLimiter::Forget(absl::string_view key) { failures_.erase(key); }

int RateLimiter::Failures(absl::string_view key) const {
  auto it = failures_.find(key);
  return it == failures_.end() ? 0 : it->second;
}

}  // namespace reclaim::kube
