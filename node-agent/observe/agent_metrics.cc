// SPDX-License-Identifier: Apache-2.0
#include "node-agent/observe/agent_metrics.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "node-agent/observe/family_set.h"

namespace reclaim::agent {
namespace {

constexpr char kWorkers[] = "kswapd.workers";

// A value for the whole machine counts for each NUMA node that has memory.
void AddWorkersDesired(const AgentView& view, FamilySet& families) {
  for (const SettingReport& setting : view.settings) {
    if (setting.key.name != kWorkers || !setting.desired.has_value()) continue;
    const double desired = static_cast<double>(*setting.desired);
    if (setting.key.numa_node.has_value()) {
      families.Add(AgentMetric::kWorkersDesired, {absl::StrCat(*setting.key.numa_node)}, desired);
      continue;
    }
    for (const NumaNodeSnapshot& node : view.snapshot.numa_nodes) {
      if (!node.has_memory) continue;
      families.Add(AgentMetric::kWorkersDesired, {absl::StrCat(node.id)}, desired);
    }
  }
}

void AddSettings(const AgentView& view, FamilySet& families) {
  for (const SettingReport& setting : view.settings) {
    const std::string numa_node =
        setting.key.numa_node.has_value() ? absl::StrCat(*setting.key.numa_node) : "";
    const std::string& name = setting.key.name;
    if (setting.desired.has_value()) {
      families.Add(AgentMetric::kSettingDesired, {name, numa_node},
                   static_cast<double>(*setting.desired));
    }
    if (setting.effective.has_value()) {
      families.Add(AgentMetric::kSettingEffective, {name, numa_node},
                   static_cast<double>(*setting.effective));
    }
    families.Add(AgentMetric::kSettingOverridden, {name, numa_node},
                 static_cast<double>(setting.overridden_total));
    families.Add(AgentMetric::kSettingWriteErrors, {name, numa_node},
                 static_cast<double>(setting.write_errors_total));
  }
}

void AddTargets(const AgentView& view, FamilySet& families) {
  for (const TargetReport& target : view.targets) {
    families.Add(AgentMetric::kTargetRequested, {target.name},
                 static_cast<double>(target.requested_bytes));
    families.Add(AgentMetric::kTargetReclaimed, {target.name},
                 static_cast<double>(target.reclaimed_bytes));
    families.Add(AgentMetric::kTargetEagain, {target.name},
                 static_cast<double>(target.eagain_total));
    families.Add(AgentMetric::kTargetErrors, {target.name},
                 static_cast<double>(target.errors_total));
  }
}

void AddLink(const LinkStats& link, FamilySet& families) {
  families.Add(AgentMetric::kStreamConnected, {}, link.connected ? 1 : 0);
  families.Add(AgentMetric::kStreamConnects, {}, static_cast<double>(link.connects_total));
  for (const auto& [code, count] : link.ends_total) {
    families.Add(AgentMetric::kStreamEnds, {code}, static_cast<double>(count));
  }
  families.Add(AgentMetric::kSpecs, {"accepted"}, static_cast<double>(link.accepted_total));
  families.Add(AgentMetric::kSpecs, {"refused"}, static_cast<double>(link.refused_total));
  families.Add(AgentMetric::kStatuses, {}, static_cast<double>(link.statuses_total));
}

}  // namespace

std::vector<prometheus::MetricFamily> AgentFamilies(const AgentView& view,
                                                    const std::optional<LinkStats>& link) {
  FamilySet families;
  AddWorkersDesired(view, families);
  AddSettings(view, families);
  AddTargets(view, families);
  if (!view.policy.empty()) {
    families.Add(AgentMetric::kPolicyInfo, {view.policy, view.revision}, 1);
  }
  if (link.has_value()) {
    AddLink(*link, families);
    families.Add(AgentMetric::kCheckpointErrors, {},
                 static_cast<double>(view.checkpoint_errors_total));
    if (view.checkpoint_time.has_value()) {
      families.Add(AgentMetric::kCheckpointTimestamp, {},
                   static_cast<double>(absl::ToUnixSeconds(*view.checkpoint_time)));
    }
  } else {
    families.Add(AgentMetric::kPolicyFileErrors, {},
                 static_cast<double>(view.policy_file_errors_total));
  }
  families.Add(AgentMetric::kTicks, {}, static_cast<double>(view.ticks_total));
  families.Add(AgentMetric::kTickSeconds, {}, absl::ToDoubleSeconds(view.tick_time_total));
  for (const auto& [file, error] : view.snapshot.read_errors) {
    families.Add(AgentMetric::kReadErrors, {file}, 1);
  }
  return families.Take();
}

std::vector<prometheus::MetricFamily> AgentMetrics::Collect() const {
  const std::shared_ptr<const AgentView> view = view_();
  if (view == nullptr) return {};
  std::vector<prometheus::MetricFamily> families = HostFamilies(view->snapshot);
  std::vector<prometheus::MetricFamily> own = AgentFamilies(*view, link_());
  families.insert(families.end(), std::make_move_iterator(own.begin()),
                  std::make_move_iterator(own.end()));
  return families;
}

}  // namespace reclaim::agent
