// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_UNKNOWN_FIELDS_H_
#define RECLAIM_OPERATOR_CONTROLLERS_UNKNOWN_FIELDS_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/json.h"

namespace reclaim::op {

// What `json` says and a message of `type` cannot hold, because the API is newer than this program:
// fields, "spec.kswapd.affinity", and values of enums, "spec.mode: DryRun". In the order of `json`;
// `path` is that of `json` itself. What has a wrong type is not looked into. Pure.
std::vector<std::string> FindUnknown(const kube::Json& json,
                                     const google::protobuf::Descriptor& type,
                                     absl::string_view path);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_UNKNOWN_FIELDS_H_
