// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_OBSERVE_AGENT_METRICS_H_
#define RECLAIM_NODE_AGENT_OBSERVE_AGENT_METRICS_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "node-agent/link/link_stats.h"
#include "node-agent/observe/agent_view.h"
#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace reclaim::agent {

// The families of one snapshot. Pure. Absent numbers give absent series.
std::vector<prometheus::MetricFamily> HostFamilies(const Snapshot& snapshot);

// Those of what the agent does, and of the agent itself. Pure. `link` is absent in a stand-alone
// agent.
std::vector<prometheus::MetricFamily> AgentFamilies(const AgentView& view,
                                                    const std::optional<LinkStats>& link);

// Everything the agent shows to Prometheus beside its process metrics, built at scrape time from
// the last tick's view: a scrape reads nothing of the host. Thread-safe.
class AgentMetrics : public prometheus::Collectable {
 public:
  using ViewSource = std::function<std::shared_ptr<const AgentView>()>;
  using LinkSource = std::function<std::optional<LinkStats>()>;

  AgentMetrics(ViewSource view, LinkSource link) : view_(std::move(view)), link_(std::move(link)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ViewSource view_;
  const LinkSource link_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_OBSERVE_AGENT_METRICS_H_
