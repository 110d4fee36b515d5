// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_retry.h"

#include <optional>

#include "kube/status.h"

namespace reclaim::kube {
namespace {

constexpr absl::Duration kVeryShort = absl::Seconds(1);

}  // namespace

AfterWatch DecideAfterWatch(const WatchEnd& end) {
  const absl::Status& ended = end.status;
  const bool useless = end.lasted < kVeryShort && end.events == 0;
  if (ended.ok()) return useless ? AfterWatch::kWaitThenListAgain : AfterWatch::kWatchAgain;
  if (IsGone(ended)) {
    return useless && !end.after_wait ? AfterWatch::kWaitThenListAgain : AfterWatch::kListAgain;
  }
  if (IsResourceVersionTooLarge(ended)) return AfterWatch::kWaitThenListAgain;
  if (IsTransportError(ended)) {
    // No loop: silence has lasted as long as the reflector is willing to wait for a byte.
    const bool silent = end.opened && absl::IsDeadlineExceeded(ended);
    return silent ? AfterWatch::kWatchAgain : AfterWatch::kWaitThenWatch;
  }
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
