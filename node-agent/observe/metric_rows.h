// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_OBSERVE_METRIC_ROWS_H_
#define RECLAIM_NODE_AGENT_OBSERVE_METRIC_ROWS_H_

#include <string>
#include <vector>

#include "common/metric_table.h"

namespace reclaim::agent {

// Every metric of the agent beside process_* and reclaim_build_info (common/process_metrics.h). The
// rows stand in metric_rows.cc, in this order.
enum class AgentMetric {
  // The host.
  kPgscan,
  kPgsteal,
  kAllocstall,
  kRefault,
  kZoneWatermark,
  kZoneFree,
  kPressureSome,
  kPressureFull,
  kKswapdCpu,
  kKswapdRunning,
  kKswapdHopeless,
  kWorkersDesired,
  kWorkersEffective,
  // What the agent does.
  kSettingDesired,
  kSettingEffective,
  kSettingOverridden,
  kSettingWriteErrors,
  kTargetRequested,
  kTargetReclaimed,
  kTargetEagain,
  kTargetErrors,
  // The agent itself.
  kPolicyInfo,
  kStreamConnected,
  kStreamConnects,
  kStreamEnds,
  kSpecs,
  kStatuses,
  kCheckpointTimestamp,
  kCheckpointErrors,
  kPolicyFileErrors,
  kTicks,
  kTickSeconds,
  kReadErrors,
  kCount,
};

const MetricRow& RowOf(AgentMetric metric);

// All rows, also those of common/, as they stand in the reference page.
std::vector<MetricRow> AgentMetricTable();

// docs/metrics-node-agent.md; `reclaim-node-agent --metrics-reference` prints it.
std::string AgentMetricReference();

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_OBSERVE_METRIC_ROWS_H_
