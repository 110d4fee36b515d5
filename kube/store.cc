// SPDX-License-Identifier: Apache-2.0
#include "kube/store.h"

namespace reclaim::kube {

absl::StatusOr<Json> KeepWholeObject(const Json& object) {
  Json kept = object;
  if (auto metadata = kept.find("metadata"); metadata != kept.end() && metadata->is_object()) {
    metadata->erase("managedFields");
  }
  return kept;
}

}  // namespace reclaim::kube
