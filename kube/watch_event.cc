// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_event.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kube/status.h"

namespace reclaim::kube {

absl::StatusOr<WatchEvent> ParseWatchEvent(absl::string_view line) {
  absl::StatusOr<Json> json = ParseJson(line, "watch event");
  if (!json.ok()) return json.status();
  auto object = json->is_object() ? json->find("object") : json->end();
  if (!json->is_object() || object == json->end() || !object->is_object()) {
    return absl::InvalidArgumentError("watch event: no member \"object\" that is an object");
  }
  const std::string type = StringAt(*json, {"type"});
  if (type == "ERROR") return MakeApiStatus("watch ERROR event", *object);
  WatchEvent event;
  if (type == "ADDED") {
    event.type = WatchEvent::Type::kAdded;
  } else if (type == "MODIFIED") {
    event.type = WatchEvent::Type::kModified;
  } else if (type == "DELETED") {
    event.type = WatchEvent::Type::kDeleted;
  } else if (type == "BOOKMARK") {
    event.type = WatchEvent::Type::kBookmark;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("watch event: unknown type \"", type, "\""));
  }
  if (event.type != WatchEvent::Type::kBookmark && NameOf(*object).empty()) {
    return absl::InvalidArgumentError("watch event: the object has no metadata.name");
  }
  event.object = std::move(*object);
  return event;
}

}  // namespace reclaim::kube
