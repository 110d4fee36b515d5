// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_STARTUP_H_
#define RECLAIM_NODE_AGENT_STARTUP_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "node-agent/host/kernel_file.h"
#include "node-agent/options.h"
#include "node-agent/state/journal.h"

// What main() does before anything runs; each of these ends the process when it cannot go on.
namespace reclaim::agent {

inline constexpr int kExitMissing = 1;  // something it needs is missing
inline constexpr int kExitUsage = 2;    // a bad option or policy file

// Prints what was asked for (--help, --version, --metrics-reference, --check) and exits with 0;
// exits with kExitUsage and one sentence for a bad option or policy file.
AgentOptions ParseAgentOptionsOrExit(int argc, char** argv);

// The journal of this boot in `state_dir`.
Journal OpenJournalOrExit(const std::string& state_dir, const HostFiles& files);

template <typename T>
T OrExit(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "reclaim-node-agent: %s\n", std::string(value.status().message()).c_str());
  std::exit(kExitMissing);
}

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_STARTUP_H_
