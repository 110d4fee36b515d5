// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_ID_LIST_H_
#define RECLAIM_NODE_AGENT_HOST_ID_LIST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "node-agent/host/file_io.h"

namespace reclaim::agent {

// Highest NUMA node number that the kernel can be configured for (NODES_SHIFT 10).
inline constexpr int kMaxNumaNode = 1023;

// The kernel's list format: "0-1,4" -> {0, 1, 4}; empty for an empty list. Ascending, as the kernel
// prints it. Error: InvalidArgument, also for a number above kMaxNumaNode.
absl::StatusOr<std::vector<int>> ParseIdList(absl::string_view text);

Maybe<std::vector<int>> ReadIdList(const KernelFile& file);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_ID_LIST_H_
