// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_retry.h"

#include <optional>

#include "kube/status.h"

namespace reclaim::kube {
namespace {

constexpr absl::Duration kVeryShort = absl::Seconds(1);

}  // namespace

AfterWatch DecideAfterWatch(const absl::Status& ended, absl::Duration lasted, int64_t events) {
  const bool useless = lasted < kVeryShort && events == 0;
  if (ended.ok()) return useless ? AfterWatch::kWaitThenListAgain : AfterWatch::kWatchAgain;
  if (IsGone(ended)) return useless ? AfterWatch::kWaitThenListAgain : AfterWatch::kListAgain;
  if (IsResourceVersionTooLarge(ended)) return AfterWatch::kWaitThenListAgain;
  if (IsTransportError(ended)) return AfterWatch::kWaitThenWatch;
  if (const std::optional<ApiError> error = GetApiError(ended)) {
    switch (error->http_code) {
      case 401:
      case 429:
      case 502:
      case 503:
      case 504:
        return AfterWatch::kWaitThenWatch;
      default:
        break;
    }
  }
  return AfterWatch::kWaitThenListAgain;
}

}  // namespace reclaim::kube
