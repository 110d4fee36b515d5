// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_AGENT_H_
#define RECLAIM_NODE_AGENT_AGENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "node-agent/apply/proactive_reclaimer.h"
#include "node-agent/apply/setting_applier.h"
#include "node-agent/observe/agent_view.h"
#include "node-agent/observe/snapshot.h"
#include "node-agent/policy_file/policy_file.h"
#include "node-agent/spec_update.h"
#include "node-agent/state/checkpoint.h"
#include "node-agent/state/journal.h"

namespace reclaim::agent {

// The tick: takes the newest spec, applies the settings, reads one snapshot, and publishes the
// status and the view that metrics are made of. It alone writes settings.
//
// Thread-safe, except that Tick is either called by the thread (Start) or by a test.
class Agent {
 public:
  struct Parts {
    const HostFiles& files;
    KernelWriter& writer;
    Clock& clock;
    Journal& journal;
    ProactiveReclaimer& reclaimer;
    // Exactly one is set: where specs come from beside Offer.
    Checkpoint* checkpoint = nullptr;
    PolicyFile* policy_file = nullptr;
    // Called at the end of each tick with the status and the version of the spec it is about; must
    // not block.
    std::function<void(const kswapd::v1alpha1::NodeReclaimStatus&, const std::string& version)>
        publish;
    absl::Duration tick = absl::Seconds(5);
  };
  explicit Agent(Parts parts);
  ~Agent() { Stop(); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // What to run from the next tick on, which is woken at once. The newest wins.
  void Offer(SpecUpdate update);

  void Start();
  // Ends the thread and leaves every value as it is: nothing is restored when an agent stops.
  void Stop();

  // One round. Never fails as a whole: what goes wrong stands in the status.
  void Tick();

  // Of the last tick; nullptr before the first.
  std::shared_ptr<const AgentView> View() const;

  // For /healthz: not OK when the last tick began or ended too long ago (a thread stuck in the
  // kernel). For /readyz: OK after the first tick.
  absl::Status Liveness() const;
  absl::Status Readiness() const;

  // How often the byte counts of targets in the status are refreshed.
  static constexpr absl::Duration kAmountsInterval = absl::Minutes(5);

 private:
  void Run();
  void TakeSpec();
  void Adopt(SpecUpdate update, bool store);
  void StoreCheckpoint();
  std::vector<SettingReport> ApplySpec(const HostFeatures& features, bool new_spec,
                                       absl::Duration now);
  std::vector<TargetReport> TargetsForStatus(bool new_spec);
  void Publish(HostFeatures features, std::vector<SettingReport> settings, bool new_spec,
               absl::Duration started);
  std::string Fault() const;

  const Parts parts_;
  SettingApplier applier_;
  SnapshotReader snapshots_;
  std::thread thread_;

  // Of the tick's thread alone.
  // nullopt: nobody has said yet what this node should run, not even that it is nothing.
  std::optional<SpecUpdate> current_;
  bool new_spec_ = true;
  std::vector<std::string> unimplemented_;
  std::vector<std::string> meaningless_;
  std::string source_fault_;
  bool checkpoint_stale_ = false;  // holds an older spec than current_; tried again each tick
  std::vector<TargetReport> status_targets_;
  absl::Duration amounts_at_ = -absl::InfiniteDuration();
  uint64_t ticks_total_ = 0;
  absl::Duration tick_time_total_;
  uint64_t checkpoint_errors_total_ = 0;
  uint64_t policy_file_errors_total_ = 0;

  mutable absl::Mutex mutex_;
  std::optional<SpecUpdate> offered_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const AgentView> view_ ABSL_GUARDED_BY(mutex_);
  absl::Duration last_tick_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_AGENT_H_
