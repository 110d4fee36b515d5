// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_OBSERVE_AGENT_VIEW_H_
#define RECLAIM_NODE_AGENT_OBSERVE_AGENT_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "node-agent/apply/setting_report.h"
#include "node-agent/apply/target_report.h"
#include "node-agent/observe/snapshot.h"

namespace reclaim::agent {

// What one tick leaves behind for readers on other threads: never changed once published.
struct AgentView {
  Snapshot snapshot;
  std::vector<SettingReport> settings;
  std::vector<TargetReport> targets;
  std::string policy;    // empty: no policy in force
  std::string revision;  // of the policy's spec
  uint64_t ticks_total = 0;
  absl::Duration tick_time_total;             // spent in ticks
  std::optional<absl::Time> checkpoint_time;  // when the spec was last written; absent: never
  uint64_t checkpoint_errors_total = 0;
  uint64_t policy_file_errors_total = 0;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_OBSERVE_AGENT_VIEW_H_
