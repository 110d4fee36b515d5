// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_PRESSURE_H_
#define RECLAIM_NODE_AGENT_HOST_PRESSURE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "node-agent/host/file_io.h"

namespace reclaim::agent {

// Totals of a pressure file (PSI): how long since boot tasks stalled on memory.
struct Pressure {
  absl::Duration some;                 // at least one task stalled
  std::optional<absl::Duration> full;  // all non-idle tasks stalled; not printed for every resource
};

// Error: InvalidArgument when there is no "some" line or a total cannot be read.
absl::StatusOr<Pressure> ParsePressure(absl::string_view text);

// nullopt also when the kernel was booted with psi=0 (reading then says EOPNOTSUPP).
Maybe<Pressure> ReadPressure(const KernelFile& file);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_PRESSURE_H_
