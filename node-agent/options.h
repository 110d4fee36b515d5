// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_OPTIONS_H_
#define RECLAIM_NODE_AGENT_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

struct AgentOptions {
  HostPaths host;
  std::string state_dir = "/var/lib/reclaim-node-agent";
  std::string operator_address;
  std::string operator_server_name;
  std::string node_name;  // of the environment, NODE_NAME
  std::string operator_ca = "/etc/reclaim/ca/ca.crt";
  std::string token_file = "/var/run/secrets/reclaim/token";
  std::string policy;  // exactly one of operator_address and policy is set
  std::string metrics_address = ":9464";
  std::string health_address = ":9465";
  absl::Duration tick = absl::Seconds(5);

  // Print something and end, instead of running.
  bool help = false;
  bool version = false;
  bool metrics_reference = false;
  bool check = false;  // only read the policy file and say whether it is good
};

// "--name value" or "--name=value". Pure.
// Error: InvalidArgument, one sentence that names the option.
absl::StatusOr<AgentOptions> ParseAgentOptions(absl::Span<const absl::string_view> arguments);

std::string AgentHelp();

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_OPTIONS_H_
