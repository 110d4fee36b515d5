// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/families.h"

#include <cstdlib>
#include <map>
#include <string>

#include "common/log.h"

namespace reclaim::op {
namespace {

std::map<std::string, std::string> Labels(const MetricRow& row,
                                          std::initializer_list<absl::string_view> values) {
  if (values.size() != row.labels.size()) {
    LogError("wrong number of label values", {{"metric", row.name}});
    abort();
  }
  std::map<std::string, std::string> labels;
  size_t i = 0;
  for (absl::string_view value : values) labels[row.labels[i++]] = std::string(value);
  return labels;
}

}  // namespace

prometheus::Counter& CounterOf(prometheus::Registry& registry, const MetricRow& row,
                               std::initializer_list<absl::string_view> label_values) {
  return prometheus::BuildCounter().Name(row.name).Help(row.help).Register(registry).Add(
      Labels(row, label_values));
}

prometheus::Gauge& GaugeOf(prometheus::Registry& registry, const MetricRow& row,
                           std::initializer_list<absl::string_view> label_values) {
  return prometheus::BuildGauge().Name(row.name).Help(row.help).Register(registry).Add(
      Labels(row, label_values));
}

prometheus::Histogram& HistogramOf(prometheus::Registry& registry, const MetricRow& row,
                                   std::initializer_list<absl::string_view> label_values) {
  static const prometheus::Histogram::BucketBoundaries kBuckets = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  return prometheus::BuildHistogram().Name(row.name).Help(row.help).Register(registry).Add(
      Labels(row, label_values), kBuckets);
}

}  // namespace reclaim::op
