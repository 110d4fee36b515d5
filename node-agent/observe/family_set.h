// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_OBSERVE_FAMILY_SET_H_
#define RECLAIM_NODE_AGENT_OBSERVE_FAMILY_SET_H_

#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "node-agent/observe/metric_rows.h"
#include "prometheus/metric_family.h"

namespace reclaim::agent {

// Collects samples into families by row; a row without samples gives no family.
class FamilySet {
 public:
  void Add(AgentMetric metric, std::initializer_list<absl::string_view> labels, double value) {
    auto [family, added] = families_.try_emplace(metric);
    if (added) family->second = NewFamily(RowOf(metric));
    AddSample(RowOf(metric), labels, value, family->second);
  }

  std::vector<prometheus::MetricFamily> Take() {
    std::vector<prometheus::MetricFamily> families;
    for (auto& [metric, family] : families_) families.push_back(std::move(family));
    families_.clear();
    return families;
  }

 private:
  std::map<AgentMetric, prometheus::MetricFamily> families_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_OBSERVE_FAMILY_SET_H_
