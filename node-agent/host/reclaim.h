// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_RECLAIM_H_
#define RECLAIM_NODE_AGENT_HOST_RECLAIM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "node-agent/host/file_io.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

// Where memory can be reclaimed on request: a NUMA node (nodeN/reclaim) or a cgroup with all that
// is below it (memory.reclaim).
struct ReclaimPlace {
  std::optional<int> numa_node;
  std::string cgroup;  // when !numa_node: "/kubepods.slice"

  friend bool operator==(const ReclaimPlace&, const ReclaimPlace&) = default;
};

// The file of a place, for messages and for Exists.
KernelFile ReclaimFile(const HostFiles& files, const ReclaimPlace& place);

struct ReclaimOutcome {
  // 0, or errno. EAGAIN: less than asked could be reclaimed. EBUSY: another reclaimer is at this
  // NUMA node. EINVAL: the kernel does not know the swappiness argument. ENOENT: the place is gone.
  int error = 0;
  // What was reclaimed, also when error is EAGAIN; absent when this kernel does not tell.
  //
  // The increase of pgsteal_proactive while the write lasted: in nodeN/vmstat for a NUMA node
  // (global vmstat before Linux 7.0), in memory.stat for a cgroup; for a cgroup of a kernel that
  // does not count it (before 6.15) the decrease of memory.current. Another proactive reclaimer at
  // the same place is counted too.
  std::optional<int64_t> reclaimed_bytes;
};

// Asks the kernel to reclaim `bytes` from `place` and waits until it has tried: for as long as that
// takes, so `bytes` should be small. `swappiness` is "0" … "200", "max", or empty for the kernel's.
ReclaimOutcome ReclaimFrom(const HostFiles& files, KernelWriter& writer, const ReclaimPlace& place,
                           int64_t bytes, const std::string& swappiness);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_RECLAIM_H_
