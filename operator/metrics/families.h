// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_METRICS_FAMILIES_H_
#define RECLAIM_OPERATOR_METRICS_FAMILIES_H_

#include <initializer_list>

#include "absl/strings/string_view.h"
#include "common/metric_table.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// The series of `row` with these label values, in the order of row.labels; made on first use and
// then the same object. A row is registered at most once per registry. Thread-safe; costs a lock
// and a hash, so keep the reference of what is hot.
prometheus::Counter& CounterOf(prometheus::Registry& registry, const MetricRow& row,
                               std::initializer_list<absl::string_view> label_values = {});
prometheus::Gauge& GaugeOf(prometheus::Registry& registry, const MetricRow& row,
                           std::initializer_list<absl::string_view> label_values = {});
// Buckets from 1 ms to 60 s.
prometheus::Histogram& HistogramOf(prometheus::Registry& registry, const MetricRow& row,
                                   std::initializer_list<absl::string_view> label_values = {});

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_METRICS_FAMILIES_H_
