// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_COUNTERS_H_
#define RECLAIM_NODE_AGENT_HOST_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "node-agent/host/file_io.h"

namespace reclaim::agent {

// The "name number" lines of /proc/vmstat, nodeN/vmstat and memory.stat.
class Counters {
 public:
  Counters() = default;
  explicit Counters(std::vector<std::pair<std::string, uint64_t>> values);

  // nullopt: this kernel does not count it. Missing is not zero.
  std::optional<uint64_t> Find(absl::string_view name) const;

  const std::vector<std::pair<std::string, uint64_t>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, uint64_t>> values_;  // sorted by name
};

// Error: InvalidArgument with the line, when one is not "name number" or a name comes twice.
// A negative number (a per-CPU sum read at a bad moment) counts as 0, as the kernel itself prints
// it elsewhere.
absl::StatusOr<Counters> ParseCounters(absl::string_view text);

Maybe<Counters> ReadCounters(const KernelFile& file);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_COUNTERS_H_
