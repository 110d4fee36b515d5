// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_PROACTIVE_RECLAIMER_H_
#define RECLAIM_NODE_AGENT_APPLY_PROACTIVE_RECLAIMER_H_

#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "node-agent/apply/setting_restorer.h"
#include "node-agent/apply/target_report.h"
#include "node-agent/control/reclaim_rate.h"
#include "node-agent/control/target_plan.h"
#include "node-agent/host/file_io.h"
#include "node-agent/host/reclaim.h"

namespace reclaim::agent {

// Runs the proactive targets on a thread of its own, because a write to a reclaim file lasts as
// long as the kernel needs. Chunks are small, so a new spec, a pause or the end of the process take
// effect within one chunk.
//
// Thread-safe, except that RunDue is either called by the thread (Start) or by a test.
class ProactiveReclaimer {
 public:
  ProactiveReclaimer(const HostFiles& files, KernelWriter& writer, Clock& clock)
      : files_(files), writer_(writer), clock_(clock) {}
  ~ProactiveReclaimer() { Stop(); }
  ProactiveReclaimer(const ProactiveReclaimer&) = delete;
  ProactiveReclaimer& operator=(const ProactiveReclaimer&) = delete;

  // The targets from now on. One that keeps its name keeps its counters. Modes other than kEnforce
  // reclaim nothing, and follow the cgroups all the same.
  void SetTargets(std::vector<TargetPlan> plans, ApplyMode mode);

  // One for each target, in order.
  std::vector<TargetReport> Reports() const;

  void Start();
  // Waits for the chunk in flight. Idempotent.
  void Stop();

  // Takes at most one chunk of each target that is due. Returns how long nothing will be due.
  absl::Duration RunDue();

  // How often cgroup patterns are expanded again.
  static constexpr absl::Duration kExpandInterval = absl::Seconds(30);
  static constexpr size_t kMaxPlaces = 1000;

 private:
  struct Target {
    TargetPlan plan;
    std::vector<ReclaimPlace> places;
    // For each place, what the kernel said to its last chunk; empty = it took it.
    std::vector<std::string> refusals;
    RateProgress progress;
    absl::Duration expand_at;
    // Of the last expansion; empty = none.
    std::string problem;       // a pattern that cannot be expanded
    std::string missing;       // a file that the kernel does not have
    size_t missing_count = 0;  // places without theirs
    TargetReport report;
  };

  void Run();
  absl::Duration RunTarget(size_t index, uint64_t generation);
  void Refresh(Target& target, absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const ReclaimChunk& chunk, const ReclaimPlace& place, const ReclaimOutcome& outcome,
             Target& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One report out of what is known of all places: the same until one of them changes.
  void Conclude(Target& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const HostFiles& files_;
  KernelWriter& writer_;
  Clock& clock_;
  std::thread thread_;

  mutable absl::Mutex mutex_;
  std::vector<Target> targets_ ABSL_GUARDED_BY(mutex_);
  ApplyMode mode_ ABSL_GUARDED_BY(mutex_) = ApplyMode::kEnforce;
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_PROACTIVE_RECLAIMER_H_
