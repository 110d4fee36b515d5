// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "node-agent/observe/agent_metrics.h"
#include "node-agent/observe/family_set.h"

namespace reclaim::agent {
namespace {

constexpr const char* kReclaimers[] = {"kswapd", "direct", "khugepaged", "proactive"};

void AddByReclaimer(const Counters& counters, const std::string& numa_node, FamilySet& families) {
  for (const char* reclaimer : kReclaimers) {
    if (const auto pages = counters.Find(absl::StrCat("pgscan_", reclaimer))) {
      families.Add(AgentMetric::kPgscan, {numa_node, reclaimer}, static_cast<double>(*pages));
    }
    if (const auto pages = counters.Find(absl::StrCat("pgsteal_", reclaimer))) {
      families.Add(AgentMetric::kPgsteal, {numa_node, reclaimer}, static_cast<double>(*pages));
    }
  }
}

// Linux 7.0 moved these counters to the NUMA nodes; /proc/vmstat then has their sums, and giving
// both would count every page twice.
void AddReclaimers(const Snapshot& snapshot, FamilySet& families) {
  bool per_numa_node = false;
  for (const NumaNodeSnapshot& node : snapshot.numa_nodes) {
    if (!node.vmstat.has_value() || !node.vmstat->Find("pgscan_kswapd").has_value()) continue;
    per_numa_node = true;
    AddByReclaimer(*node.vmstat, absl::StrCat(node.id), families);
  }
  if (!per_numa_node && snapshot.vmstat.has_value()) {
    AddByReclaimer(*snapshot.vmstat, "", families);
  }
}

void AddRefaults(const Snapshot& snapshot, FamilySet& families) {
  for (const NumaNodeSnapshot& node : snapshot.numa_nodes) {
    if (!node.vmstat.has_value()) continue;
    for (const char* type : {"anon", "file"}) {
      if (const auto pages = node.vmstat->Find(absl::StrCat("workingset_refault_", type))) {
        families.Add(AgentMetric::kRefault, {absl::StrCat(node.id), type},
                     static_cast<double>(*pages));
      }
    }
  }
}

void AddAllocstalls(const Snapshot& snapshot, FamilySet& families) {
  if (!snapshot.vmstat.has_value()) return;
  for (const auto& [name, value] : snapshot.vmstat->values()) {
    absl::string_view zone = name;
    if (!absl::ConsumePrefix(&zone, "allocstall_")) continue;
    families.Add(AgentMetric::kAllocstall, {zone}, static_cast<double>(value));
  }
}

void AddZones(const Snapshot& snapshot, FamilySet& families) {
  const auto bytes = [&snapshot](uint64_t pages) {
    return static_cast<double>(pages) * static_cast<double>(snapshot.page_bytes);
  };
  std::map<int, bool> hopeless;
  for (const Zone& zone : snapshot.zones) {
    const std::string numa_node = absl::StrCat(zone.numa_node);
    const std::pair<const char*, std::optional<uint64_t>> watermarks[] = {
        {"min", zone.min_pages},
        {"low", zone.low_pages},
        {"high", zone.high_pages},
        {"boost", zone.boost_pages}};
    for (const auto& [watermark, pages] : watermarks) {
      if (!pages.has_value()) continue;
      families.Add(AgentMetric::kZoneWatermark, {numa_node, zone.name, watermark}, bytes(*pages));
    }
    if (zone.free_pages.has_value()) {
      families.Add(AgentMetric::kZoneFree, {numa_node, zone.name}, bytes(*zone.free_pages));
    }
    if (zone.node_unreclaimable.has_value()) hopeless[zone.numa_node] |= *zone.node_unreclaimable;
  }
  for (const auto& [numa_node, flag] : hopeless) {
    families.Add(AgentMetric::kKswapdHopeless, {absl::StrCat(numa_node)}, flag ? 1 : 0);
  }
}

void AddPressure(const Snapshot& snapshot, FamilySet& families) {
  if (!snapshot.memory_pressure.has_value()) return;
  families.Add(AgentMetric::kPressureSome, {},
               absl::ToDoubleSeconds(snapshot.memory_pressure->some));
  if (snapshot.memory_pressure->full.has_value()) {
    families.Add(AgentMetric::kPressureFull, {},
                 absl::ToDoubleSeconds(*snapshot.memory_pressure->full));
  }
}

void AddWorkers(const Snapshot& snapshot, FamilySet& families) {
  std::map<int, int> running;
  std::set<std::pair<int, int>> seen;
  for (const KswapdWorker& worker : snapshot.workers) {
    ++running[worker.numa_node];
    // Two threads of one name, for a moment, while the kernel replaces one: a series comes once.
    if (!seen.insert({worker.numa_node, worker.worker}).second) continue;
    families.Add(AgentMetric::kKswapdCpu,
                 {absl::StrCat(worker.numa_node), absl::StrCat(worker.worker)},
                 absl::ToDoubleSeconds(worker.cpu_time));
  }
  for (const auto& [numa_node, count] : running) {
    families.Add(AgentMetric::kKswapdRunning, {absl::StrCat(numa_node)}, count);
  }
  for (const NumaNodeSnapshot& node : snapshot.numa_nodes) {
    if (!node.kswapd_workers.has_value()) continue;
    families.Add(AgentMetric::kWorkersEffective, {absl::StrCat(node.id)},
                 static_cast<double>(*node.kswapd_workers));
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> HostFamilies(const Snapshot& snapshot) {
  FamilySet families;
  AddReclaimers(snapshot, families);
  AddAllocstalls(snapshot, families);
  AddRefaults(snapshot, families);
  AddZones(snapshot, families);
  AddPressure(snapshot, families);
  AddWorkers(snapshot, families);
  return families.Take();
}

}  // namespace reclaim::agent
