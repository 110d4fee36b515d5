// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_WATCH_EVENT_H_
#define RECLAIM_KUBE_WATCH_EVENT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/json.h"

namespace reclaim::kube {

// One line of a watch. An ERROR event is not one of these: it parses to its status.
struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kAdded;
  Json object;
};

// kInvalidArgument for a line that is not a watch event; for an ERROR event the status that it
// carries (see status.h), never OK.
absl::StatusOr<WatchEvent> ParseWatchEvent(absl::string_view line);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_WATCH_EVENT_H_
