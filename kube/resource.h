// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_RESOURCE_H_
#define RECLAIM_KUBE_RESOURCE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace reclaim::kube {

// Which collection of the API. Kinds of our own:
//   const GroupVersionResource kPolicies{"kswapd.dev", "v1alpha1", "reclaimpolicies", false};
struct GroupVersionResource {
  std::string group;  // "" is the core group
  std::string version;
  std::string resource;  // plural, lower case
  bool namespaced = false;
};

const GroupVersionResource& Nodes();
const GroupVersionResource& Secrets();
const GroupVersionResource& ConfigMaps();
const GroupVersionResource& TokenReviews();

// "/api/v1/namespaces/ns/configmaps/name/status". An empty `name` is the collection; an empty
// `name_space` of a namespaced resource is all namespaces. Parts are escaped.
std::string ResourcePath(const GroupVersionResource& resource, absl::string_view name_space,
                         absl::string_view name = "", absl::string_view subresource = "");

// Percent-encodes everything but RFC 3986's unreserved characters.
std::string EscapeUrl(absl::string_view text);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_RESOURCE_H_
