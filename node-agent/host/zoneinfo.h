// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_ZONEINFO_H_
#define RECLAIM_NODE_AGENT_HOST_ZONEINFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "node-agent/host/file_io.h"

namespace reclaim::agent {

// One populated zone of /proc/zoneinfo; amounts in pages.
struct Zone {
  int numa_node = 0;
  std::string name;  // "DMA32", "Normal"
  std::optional<uint64_t> free_pages;
  std::optional<uint64_t> boost_pages;  // since Linux 6.0
  std::optional<uint64_t> min_pages;
  std::optional<uint64_t> low_pages;
  std::optional<uint64_t> high_pages;
  std::optional<uint64_t> managed_pages;
  // kswapd of this NUMA node has given up ("hopeless"); on the zones that print it.
  std::optional<bool> node_unreclaimable;
};

// Zones with managed pages, in the kernel's order. Lines that are not asked for are skipped, so new
// ones do no harm. Error: InvalidArgument for a head or number that cannot be read.
absl::StatusOr<std::vector<Zone>> ParseZoneinfo(absl::string_view text);

Maybe<std::vector<Zone>> ReadZoneinfo(const KernelFile& file);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_ZONEINFO_H_
