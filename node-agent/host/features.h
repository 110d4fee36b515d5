// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_FEATURES_H_
#define RECLAIM_NODE_AGENT_HOST_FEATURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

// Names of features, as in NodeReclaim.status.kernel.features.
inline constexpr char kKswapdThreadsPerNumaNode[] = "kswapdThreadsPerNumaNode";
inline constexpr char kKswapdThreads[] = "kswapdThreads";
inline constexpr char kNodeReclaim[] = "nodeReclaim";
inline constexpr char kMemoryReclaim[] = "memoryReclaim";
inline constexpr char kLruGen[] = "lruGen";
inline constexpr char kPressure[] = "pressure";

// A file that a setting or target needs.
struct Feature {
  std::string name;
  bool supported = false;
  std::string path;  // as an admin knows it
};

// What this kernel and machine can do.
struct HostFeatures {
  std::string kernel_release;            // "7.3.4"; empty when it cannot be read
  std::vector<int> memory_nodes;         // NUMA nodes with memory, ascending
  std::optional<int64_t> memory_kbytes;  // nullopt: it cannot be read
  std::vector<Feature> features;

  // False for an unknown name.
  bool Has(absl::string_view name) const;
};

// Looks at the host. Cheap (a few access(2) calls), so that hot-plugged memory is seen.
HostFeatures ReadHostFeatures(const HostFiles& files);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_FEATURES_H_
