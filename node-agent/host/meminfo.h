// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_MEMINFO_H_
#define RECLAIM_NODE_AGENT_HOST_MEMINFO_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "node-agent/host/file_io.h"

namespace reclaim::agent {

// MemTotal of /proc/meminfo: the machine's memory, in KiB. Error: InvalidArgument when there is no
// such line or no positive number on it.
absl::StatusOr<int64_t> ParseMemTotalKbytes(absl::string_view text);

Maybe<int64_t> ReadMemTotalKbytes(const KernelFile& file);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_MEMINFO_H_
