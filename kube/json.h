// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_JSON_H_
#define RECLAIM_KUBE_JSON_H_

#include <initializer_list>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace reclaim::kube {

// A Kubernetes object as it travels: the JSON tree of the API. nlohmann's accessors throw when a
// type is not what was asked for; the functions below never do, so use them on anything that came
// over the wire.
using Json = nlohmann::json;

// Parses one JSON value. kInvalidArgument says at which byte it broke and `what` was being read.
absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view what);

// One line of plain JSON without escaped slashes, as server-side apply needs it (the API server
// reads the body with a YAML parser). Bytes that are not UTF-8 become U+FFFD.
std::string DumpJson(const Json& value);

// The member at `path` (each element a key), or nullptr when a step is missing or not an object.
const Json* Find(const Json& object, std::initializer_list<absl::string_view> path);

// The string or integer at `path`; the fallback when it is missing or of another type.
std::string StringAt(const Json& object, std::initializer_list<absl::string_view> path,
                     absl::string_view fallback = "");
int64_t IntAt(const Json& object, std::initializer_list<absl::string_view> path,
              int64_t fallback = 0);

// metadata.name, .namespace (empty for cluster-scoped objects), .uid and .resourceVersion.
// A resource version is opaque: store it, send it back, compare it for equality only.
std::string NameOf(const Json& object);
std::string NamespaceOf(const Json& object);
std::string UidOf(const Json& object);
std::string ResourceVersionOf(const Json& object);

// "namespace/name", or "name" for a cluster-scoped object: the key of stores and work queues.
std::string KeyOf(const Json& object);
std::string MakeKey(absl::string_view name_space, absl::string_view name);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_JSON_H_
