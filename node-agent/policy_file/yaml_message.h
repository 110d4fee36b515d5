// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_POLICY_FILE_YAML_MESSAGE_H_
#define RECLAIM_NODE_AGENT_POLICY_FILE_YAML_MESSAGE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "yaml-cpp/yaml.h"

namespace reclaim::agent {

// Line (from 1) of each field in the document, by its JSON path: "spec.kswapd.workers" -> 7.
using LineMap = std::map<std::string, int>;

// Reads a YAML mapping into `message` by the names of its JSON mapping, as the API server would
// read the manifest: an unknown field, a field that comes twice, or a value of another type is an
// error. `path` is the JSON path of `node`. Enum values are names; google.protobuf.Value takes a
// number or a string, as Kubernetes' IntOrString.
//
// Error: InvalidArgument, "LINE: PATH: what is wrong". yaml-cpp's throws are caught.
absl::Status ReadYamlMessage(const YAML::Node& node, const std::string& path,
                             google::protobuf::Message& message, LineMap& lines);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_POLICY_FILE_YAML_MESSAGE_H_
