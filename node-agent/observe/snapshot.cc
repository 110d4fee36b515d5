// SPDX-License-Identifier: Apache-2.0
#include "node-agent/observe/snapshot.h"

#include <algorithm>

#include "node-agent/host/id_list.h"

namespace reclaim::agent {
namespace {

// The value, or nothing and a note of the error.
template <typename T>
std::optional<T> Keep(Maybe<T> read, const KernelFile& file, Snapshot& snapshot) {
  if (read.ok()) return *std::move(read);
  snapshot.read_errors[file.name] = std::string(read.status().message());
  return std::nullopt;
}

std::vector<NumaNodeSnapshot> ReadNumaNodes(const HostFiles& files, Snapshot& snapshot) {
  const KernelFile online_file = files.OnlineNumaNodes();
  const KernelFile memory_file = files.NumaNodesWithMemory();
  const std::vector<int> online =
      Keep(ReadIdList(online_file), online_file, snapshot).value_or(std::vector<int>());
  const std::vector<int> with_memory =
      Keep(ReadIdList(memory_file), memory_file, snapshot).value_or(online);

  const KernelFile global_file = files.KswapdThreads();
  const std::optional<int64_t> global = Keep(ReadInteger(global_file), global_file, snapshot);

  std::vector<NumaNodeSnapshot> nodes;
  for (int id : online) {
    NumaNodeSnapshot node;
    node.id = id;
    node.has_memory = std::binary_search(with_memory.begin(), with_memory.end(), id);
    const KernelFile vmstat = files.NumaNodeVmstat(id);
    node.vmstat = Keep(ReadCounters(vmstat), vmstat, snapshot);
    if (node.has_memory) {
      const KernelFile workers = files.NumaNodeKswapdThreads(id);
      node.kswapd_workers = Keep(ReadInteger(workers), workers, snapshot);
      if (!node.kswapd_workers.has_value()) node.kswapd_workers = global;
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// One kswapd for each NUMA node with memory unless the kernel says more.
size_t ExpectedWorkers(const std::vector<NumaNodeSnapshot>& nodes) {
  size_t expected = 0;
  for (const NumaNodeSnapshot& node : nodes) {
    if (node.has_memory) expected += std::max<int64_t>(node.kswapd_workers.value_or(1), 0);
  }
  return expected;
}

}  // namespace

Snapshot SnapshotReader::Read() {
  Snapshot snapshot;
  snapshot.taken_at = clock_.Monotonic();
  snapshot.page_bytes = PageBytes();
  snapshot.vmstat = Keep(ReadCounters(files_.Vmstat()), files_.Vmstat(), snapshot);
  snapshot.numa_nodes = ReadNumaNodes(files_, snapshot);
  snapshot.zones = Keep(ReadZoneinfo(files_.Zoneinfo()), files_.Zoneinfo(), snapshot)
                       .value_or(std::vector<Zone>());
  snapshot.memory_pressure =
      Keep(ReadPressure(files_.MemoryPressure()), files_.MemoryPressure(), snapshot);
  absl::StatusOr<std::vector<KswapdWorker>> workers =
      finder_.Find(ExpectedWorkers(snapshot.numa_nodes), snapshot.taken_at);
  if (workers.ok()) {
    snapshot.workers = *std::move(workers);
  } else {
    snapshot.read_errors[files_.ProcessDirectory().name] = std::string(workers.status().message());
  }
  return snapshot;
}

}  // namespace reclaim::agent
