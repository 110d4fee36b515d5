// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_KSWAPD_WORKER_H_
#define RECLAIM_NODE_AGENT_HOST_KSWAPD_WORKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "node-agent/host/file_io.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

// One kswapd thread.
struct KswapdWorker {
  int numa_node = 0;
  int worker = 0;  // 0 is `kswapdN`, further ones `kswapdN:1`, `kswapdN:2` …
  int pid = 0;
  absl::Duration cpu_time;
};

// The fields of /proc/PID/stat that matter here.
struct ProcessStat {
  std::string comm;
  uint64_t flags = 0;        // PF_*
  uint64_t stime_ticks = 0;  // in clock ticks (sysconf(_SC_CLK_TCK))
};
// Error: InvalidArgument. `comm` may hold spaces and parentheses.
absl::StatusOr<ProcessStat> ParseProcessStat(absl::string_view text);

// First field of /proc/PID/schedstat: time on a CPU. Error: InvalidArgument.
absl::StatusOr<absl::Duration> ParseSchedstat(absl::string_view text);

// NUMA node and worker number of "kswapd1" or "kswapd1:2"; nullopt for any other name.
struct KswapdName {
  int numa_node = 0;
  int worker = 0;
};
std::optional<KswapdName> ParseKswapdName(absl::string_view comm);

// Finds the kswapd threads among all processes, by name AND the kernel's PF_KSWAPD flag (anybody
// may call a process kswapd0), and remembers their pids: a walk over /proc grows with the pods of a
// node and is done only when the known threads are not the expected ones.
//
// Not thread-safe.
class KswapdFinder {
 public:
  explicit KswapdFinder(const HostFiles& files) : files_(files) {}

  // The threads in order of NUMA node and worker. `expected`: how many there should be; when it
  // is not what the remembered pids give, /proc is walked again, at most once in
  // kWalkInterval unless `expected` changed. `now` is monotonic.
  // Error: /proc cannot be listed. A thread that ends while it is looked at is left out.
  absl::StatusOr<std::vector<KswapdWorker>> Find(size_t expected, absl::Duration now);

  static constexpr absl::Duration kWalkInterval = absl::Minutes(1);

 private:
  std::optional<KswapdWorker> Read(int pid) const;
  std::vector<KswapdWorker> ReadKnown() const;
  absl::Status Walk();

  const HostFiles& files_;
  std::vector<int> pids_;
  std::optional<absl::Duration> walked_at_;
  size_t walked_for_ = 0;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_KSWAPD_WORKER_H_
