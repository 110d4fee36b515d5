// SPDX-License-Identifier: Apache-2.0
#include "kube/resource.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace reclaim::kube {

const GroupVersionResource& Nodes() {
  static const auto& resource = *new GroupVersionResource{"", "v1", "nodes", false};
  return resource;
}

const GroupVersionResource& Secrets() {
  static const auto& resource = *new GroupVersionResource{"", "v1", "secrets", true};
  return resource;
}

const GroupVersionResource& ConfigMaps() {
  static const auto& resource = *new GroupVersionResource{"", "v1", "configmaps", true};
  return resource;
}

const GroupVersionResource& TokenReviews() {
  static const auto& resource =
      *new GroupVersionResource{"authentication.k8s.io", "v1", "tokenreviews", false};
  return resource;
}

std::string ResourcePath(const GroupVersionResource& resource, absl::string_view name_space,
                         absl::string_view name, absl::string_view subresource) {
  std::string path = resource.group.empty() ? absl::StrCat("/api/", resource.version)
                                            : absl::StrCat("/apis/", EscapeUrl(resource.group), "/",
                                                           EscapeUrl(resource.version));
  if (resource.namespaced && !name_space.empty()) {
    absl::StrAppend(&path, "/namespaces/", EscapeUrl(name_space));
  }
  absl::StrAppend(&path, "/", EscapeUrl(resource.resource));
  if (!name.empty()) absl::StrAppend(&path, "/", EscapeUrl(name));
  if (!subresource.empty()) absl::StrAppend(&path, "/", EscapeUrl(subresource));
  return path;
}

std::string EscapeUrl(absl::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' ||
        c == '~') {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped += '%';
      escaped += kHex[byte >> 4];
      escaped += kHex[byte & 15];
    }
  }
  return escaped;
}

}  // namespace reclaim::kube
