// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_PAGER_H_
#define RECLAIM_KUBE_PAGER_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/client.h"
#include "kube/json.h"
#include "kube/resource.h"

namespace reclaim::kube {

// Receives a list as it comes. `on_restart` means that the list begins anew: forget its items.
struct ListReceiver {
  std::function<void()> on_restart;
  std::function<void(const Json& item)> on_item;
};

// Lists everything, page by page (options.limit items each), and returns the resource version of
// the whole. When a `continue` token expires half way (410), lists again from the start in one
// answer. Pages are only asked for where they come from the server's cache or when no version is
// asked for: with another resourceVersion a limit would send the read to etcd.
//
// `options.continue_token` must be empty. Other errors are those of Client::List.
absl::StatusOr<std::string> ListAll(Client& client, const GroupVersionResource& resource,
                                    ListOptions options, const ListReceiver& receiver);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_PAGER_H_
