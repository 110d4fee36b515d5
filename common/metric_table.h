// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_METRIC_TABLE_H_
#define RECLAIM_COMMON_METRIC_TABLE_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "prometheus/metric_type.h"

// One table per program names all its metrics; the program's collectors, its reference page and the
// test that holds both together read the same rows.
namespace reclaim {

struct MetricRow {
  std::string name;
  prometheus::MetricType type;
  std::string help;  // one sentence; no line break (the text format would not escape it)
  std::vector<std::string> labels = {};
};

// The family of `row`, without samples.
prometheus::MetricFamily NewFamily(const MetricRow& row);

// Appends one sample of a counter, gauge or untyped row; one label value for each of row.labels, in
// order (a different number of them is a bug and aborts). Histograms come from a Registry.
void AddSample(const MetricRow& row, std::initializer_list<absl::string_view> label_values,
               double value, prometheus::MetricFamily& family);

// For tests. Names: valid, unique, counters end in _total and nothing else does, no unit but the
// base ones. Help: one non-empty line that ends with a period.
absl::Status CheckMetricTable(absl::Span<const MetricRow> table);

// For tests. Every collected family stands in one of the tables with its type, help and labels.
absl::Status CheckFamilies(absl::Span<const prometheus::MetricFamily> families,
                           absl::Span<const MetricRow> table);

// A Markdown table of the rows, in their order: Metric, Type, Labels, Meaning.
std::string MetricReference(absl::Span<const MetricRow> table);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_METRIC_TABLE_H_
