// SPDX-License-Identifier: Apache-2.0
#include "node-agent/observe/metric_rows.h"

#include "absl/strings/str_cat.h"
#include "common/process_metrics.h"

namespace reclaim::agent {
namespace {

using prometheus::MetricType;

const std::vector<MetricRow>& Rows() {
  static const auto* const rows = new std::vector<MetricRow>{
      {"reclaim_pgscan_pages_total",
       MetricType::Counter,
       "Pages scanned by reclaim (pgscan_*); without numa_node where the kernel counts only "
       "globally (before Linux 7.0), and there memcg reclaim is not included.",
       {"numa_node", "reclaimer"}},
      {"reclaim_pgsteal_pages_total",
       MetricType::Counter,
       "Pages reclaimed (pgsteal_*); without numa_node where the kernel counts only globally "
       "(before Linux 7.0), and there memcg reclaim is not included.",
       {"numa_node", "reclaimer"}},
      {"reclaim_allocstall_total",
       MetricType::Counter,
       "Allocations that had to reclaim by themselves (allocstall_*).",
       {"zone"}},
      {"reclaim_workingset_refault_pages_total",
       MetricType::Counter,
       "Pages read back soon after they were reclaimed (workingset_refault_*).",
       {"numa_node", "type"}},
      {"reclaim_zone_watermark_bytes",
       MetricType::Gauge,
       "Watermarks of a zone: kswapd wakes below low and sleeps above high, allocations stall "
       "below "
       "min; boost is a temporary addition to each of them.",
       {"numa_node", "zone", "watermark"}},
      {"reclaim_zone_free_bytes",
       MetricType::Gauge,
       "Free memory of a zone, to compare with its watermarks.",
       {"numa_node", "zone"}},
      {"reclaim_memory_pressure_some_seconds_total", MetricType::Counter,
       "Time in which at least one task stalled on memory (PSI some)."},
      {"reclaim_memory_pressure_full_seconds_total", MetricType::Counter,
       "Time in which all tasks that could run stalled on memory (PSI full)."},
      {"reclaim_kswapd_cpu_seconds_total",
       MetricType::Counter,
       "CPU time of a kswapd worker.",
       {"numa_node", "worker"}},
      {"reclaim_kswapd_workers_running",
       MetricType::Gauge,
       "Threads of kswapd that exist.",
       {"numa_node"}},
      {"reclaim_kswapd_hopeless",
       MetricType::Gauge,
       "1 when kswapd of the NUMA node has given up until memory is freed (node_unreclaimable).",
       {"numa_node"}},
      {"reclaim_kswapd_workers_desired",
       MetricType::Gauge,
       "Ceiling of kswapd workers that the policy wants; absent when it wants none.",
       {"numa_node"}},
      {"reclaim_kswapd_workers_effective",
       MetricType::Gauge,
       "Ceiling of kswapd workers as the kernel reads back; absent on a kernel without "
       "kswapd_threads.",
       {"numa_node"}},
      {"reclaim_setting_desired",
       MetricType::Gauge,
       "Value that the policy wants, in the kernel's unit.",
       {"setting", "numa_node"}},
      {"reclaim_setting_effective",
       MetricType::Gauge,
       "Value that reads back, in the kernel's unit.",
       {"setting", "numa_node"}},
      {"reclaim_setting_overridden_total",
       MetricType::Counter,
       "Times that someone else changed a value that the agent had written.",
       {"setting", "numa_node"}},
      {"reclaim_setting_write_errors_total",
       MetricType::Counter,
       "Writes of a setting that the kernel refused.",
       {"setting", "numa_node"}},
      {"reclaim_target_requested_bytes_total",
       MetricType::Counter,
       "Memory that a proactive target asked the kernel to reclaim.",
       {"target"}},
      {"reclaim_target_reclaimed_bytes_total",
       MetricType::Counter,
       "Memory that was reclaimed for a proactive target (pgsteal_proactive, else the decrease of "
       "memory.current).",
       {"target"}},
      {"reclaim_target_eagain_total",
       MetricType::Counter,
       "Requests of a proactive target that the kernel could not meet in full (EAGAIN).",
       {"target"}},
      {"reclaim_target_errors_total",
       MetricType::Counter,
       "Requests of a proactive target that failed with another error.",
       {"target"}},
      {"reclaim_agent_policy_info",
       MetricType::Gauge,
       "1 for the policy in force; absent when there is none.",
       {"policy", "revision"}},
      {"reclaim_agent_stream_connected", MetricType::Gauge,
       "1 while the operator serves this agent; absent in a stand-alone agent."},
      {"reclaim_agent_stream_connects_total", MetricType::Counter,
       "Streams that the operator answered on; reconnects are this less one."},
      {"reclaim_agent_stream_ends_total",
       MetricType::Counter,
       "Streams to the operator that ended or failed, by gRPC status code.",
       {"code"}},
      {"reclaim_agent_specs_total",
       MetricType::Counter,
       "Specs received from the operator, by answer (accepted, refused).",
       {"answer"}},
      {"reclaim_agent_statuses_total", MetricType::Counter, "Statuses sent to the operator."},
      {"reclaim_agent_checkpoint_timestamp_seconds", MetricType::Gauge,
       "When the spec in force was written to disk; time() less this is its age."},
      {"reclaim_agent_checkpoint_errors_total", MetricType::Counter,
       "Specs that could not be written to disk."},
      {"reclaim_agent_policy_file_errors_total", MetricType::Counter,
       "Reads of the --policy file that failed; the last good policy stays in force."},
      {"reclaim_agent_ticks_total", MetricType::Counter,
       "Rounds of reading the host and applying settings."},
      {"reclaim_agent_tick_seconds_total", MetricType::Counter, "Time spent in those rounds."},
      {"reclaim_agent_read_errors",
       MetricType::Gauge,
       "1 for a file of the kernel that exists and could not be read in the last round.",
       {"file"}},
  };
  return *rows;
}

}  // namespace

const MetricRow& RowOf(AgentMetric metric) { return Rows().at(static_cast<size_t>(metric)); }

std::vector<MetricRow> AgentMetricTable() {
  std::vector<MetricRow> table = Rows();
  const absl::Span<const MetricRow> process = ProcessMetrics::Table();
  table.insert(table.end(), process.begin(), process.end());
  return table;
}

std::string AgentMetricReference() {
  return absl::StrCat(
      "# Metrics of the node agent\n\n"
      "`reclaim-node-agent --metrics-reference` prints this page, and a test holds both equal.\n\n"
      "- What the kernel does not count, or what could not be read, is absent: never zero.\n"
      "- Reclaimers (`kswapd`, `direct`, `khugepaged`, `proactive`) add up to all of reclaim. The "
      "kernel's counts by type (anon, file) are the same pages again and are left out.\n"
      "- `proactive` exists since Linux 6.15; before, it is part of `direct`.\n\n",
      MetricReference(AgentMetricTable()));
}

}  // namespace reclaim::agent
