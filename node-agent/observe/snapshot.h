// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_OBSERVE_SNAPSHOT_H_
#define RECLAIM_NODE_AGENT_OBSERVE_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "node-agent/host/counters.h"
#include "node-agent/host/kernel_file.h"
#include "node-agent/host/kswapd_worker.h"
#include "node-agent/host/pressure.h"
#include "node-agent/host/zoneinfo.h"

namespace reclaim::agent {

struct NumaNodeSnapshot {
  int id = 0;
  bool has_memory = false;
  std::optional<Counters> vmstat;
  // Ceiling of kswapd workers as it reads back: of this NUMA node, else of the whole machine;
  // absent on a kernel that has neither file.
  std::optional<int64_t> kswapd_workers;
};

// The host's numbers at one moment: read once a tick, the same for every reader of that tick.
// Whatever is absent the kernel does not have, or it could not be read; `read_errors` tells them
// apart.
struct Snapshot {
  absl::Duration taken_at;  // monotonic
  int64_t page_bytes = 4096;
  std::optional<Counters> vmstat;
  std::vector<NumaNodeSnapshot> numa_nodes;  // online ones, ascending
  std::vector<Zone> zones;
  std::optional<Pressure> memory_pressure;
  std::vector<KswapdWorker> workers;
  // Name of the file -> what went wrong.
  std::map<std::string, std::string> read_errors;
};

// Reads snapshots. Not thread-safe.
class SnapshotReader {
 public:
  SnapshotReader(const HostFiles& files, Clock& clock)
      : files_(files), clock_(clock), finder_(files) {}

  Snapshot Read();

 private:
  const HostFiles& files_;
  Clock& clock_;
  KswapdFinder finder_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_OBSERVE_SNAPSHOT_H_
