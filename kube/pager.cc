// SPDX-License-Identifier: Apache-2.0
#include "kube/pager.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kube/status.h"

namespace reclaim::kube {

absl::StatusOr<std::string> ListAll(Client& client, const GroupVersionResource& resource,
                                    ListOptions options, const ListReceiver& receiver) {
  const std::string asked_version = options.resource_version;
  if (!asked_version.empty() && asked_version != "0") options.limit = 0;
  receiver.on_restart();
  for (;;) {
    absl::StatusOr<Json> page = client.List(resource, options);
    if (!page.ok()) {
      if (options.continue_token.empty() || !IsGone(page.status())) return page.status();
      options.continue_token.clear();
      options.limit = 0;
      options.resource_version = asked_version;
      receiver.on_restart();
      continue;
    }
    const Json* items = Find(*page, {"items"});
    const std::string version = ResourceVersionOf(*page);
    if (version.empty() || (items != nullptr && !items->is_array() && !items->is_null())) {
      return absl::InternalError(
          absl::StrCat("LIST ", resource.resource, ": the answer is not a list"));
    }
    if (items != nullptr) {
      for (const Json& item : *items) receiver.on_item(item);
    }
    options.continue_token = StringAt(*page, {"metadata", "continue"});
    if (options.continue_token.empty()) return version;
    // The token carries the version; sending both is an error.
    options.resource_version.clear();
  }
}

}  // namespace reclaim::kube
