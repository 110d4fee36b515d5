// SPDX-License-Identifier: Apache-2.0
#include "common/metric_table.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "prometheus/check_names.h"
#include "prometheus/client_metric.h"

namespace reclaim {
namespace {

using prometheus::MetricType;

absl::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Summary:
      return "summary";
    case MetricType::Histogram:
      return "histogram";
    case MetricType::Untyped:
      return "untyped";
  }
  return "unknown";
}

// Not prometheus::CheckLabelName, which takes other arguments in each release.
bool IsLabelName(absl::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name.front()) && !absl::StartsWith(name, "__") &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

absl::Status CheckRow(const MetricRow& row) {
  const auto bad = [&row](absl::string_view why) {
    return absl::FailedPreconditionError(absl::StrCat("metric ", row.name, ": ", why));
  };
  if (!prometheus::CheckMetricName(row.name)) return bad("not a valid metric name");
  if (absl::EndsWith(row.name, "_total") != (row.type == MetricType::Counter)) {
    return bad("counters end in _total, and nothing else does");
  }
  for (const absl::string_view unit :
       {"_ms", "_milliseconds", "_minutes", "_kb", "_mb", "_percent"}) {
    if (absl::EndsWith(row.name, unit) || absl::StrContains(row.name, absl::StrCat(unit, "_"))) {
      return bad(absl::StrCat("unit ", unit, " is not a base unit (_seconds, _bytes, _ratio)"));
    }
  }
  if (row.help.empty() || row.help.back() != '.' || absl::StrContains(row.help, "\n")) {
    return bad("help is one line that ends with a period");
  }
  for (const std::string& label : row.labels) {
    if (!IsLabelName(label)) {
      return bad(absl::StrCat("label ", label, " is not a valid label name"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

prometheus::MetricFamily NewFamily(const MetricRow& row) {
  prometheus::MetricFamily family;
  family.name = row.name;
  family.help = row.help;
  family.type = row.type;
  return family;
}

void AddSample(const MetricRow& row, std::initializer_list<absl::string_view> label_values,
               double value, prometheus::MetricFamily& family) {
  if (label_values.size() != row.labels.size()) {
    LogError("metric has another number of labels than its row",
             {{"metric", row.name}, {"given", label_values.size()}, {"want", row.labels.size()}});
    std::abort();
  }
  prometheus::ClientMetric metric;
  metric.label.reserve(label_values.size());
  auto name = row.labels.begin();
  for (const absl::string_view label_value : label_values) {
    metric.label.push_back({*name++, std::string(label_value)});
  }
  switch (row.type) {
    case MetricType::Counter:
      metric.counter.value = value;
      break;
    case MetricType::Gauge:
      metric.gauge.value = value;
      break;
    case MetricType::Untyped:
      metric.untyped.value = value;
      break;
    case MetricType::Histogram:
    case MetricType::Summary:
      LogError("metric cannot be given as one sample", {{"metric", row.name}});
      std::abort();
  }
  family.metric.push_back(std::move(metric));
}

absl::Status CheckMetricTable(absl::Span<const MetricRow> table) {
  std::set<std::string> names;
  for (const MetricRow& row : table) {
    if (absl::Status status = CheckRow(row); !status.ok()) return status;
    if (!names.insert(row.name).second) {
      return absl::FailedPreconditionError(absl::StrCat("metric ", row.name, ": stands twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFamilies(absl::Span<const prometheus::MetricFamily> families,
                           absl::Span<const MetricRow> table) {
  for (const prometheus::MetricFamily& family : families) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&family](const MetricRow& r) { return r.name == family.name; });
    const auto bad = [&family](absl::string_view why) {
      return absl::FailedPreconditionError(absl::StrCat("family ", family.name, ": ", why));
    };
    if (row == table.end()) return bad("not in the table");
    if (row->type != family.type) return bad("another type than in the table");
    if (row->help != family.help) return bad("another help than in the table");
    const std::set<std::string> want(row->labels.begin(), row->labels.end());
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::set<std::string> got;
      for (const auto& label : metric.label) got.insert(label.name);
      if (got != want) {
        return bad(absl::StrCat("labels are {", absl::StrJoin(got, ","), "}, in the table {",
                                absl::StrJoin(want, ","), "}"));
      }
    }
  }
  return absl::OkStatus();
}

std::string MetricReference(absl::Span<const MetricRow> table) {
  std::string page = "| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n";
  for (const MetricRow& row : table) {
    absl::StrAppend(&page, "| `", row.name, "` | ", TypeName(row.type), " | ",
                    absl::StrJoin(row.labels, ", ",
                                  [](std::string* out, const std::string& label) {
                                    absl::StrAppend(out, "`", label, "`");
                                  }),
                    " | ", row.help, " |\n");
  }
  return page;
}

}  // namespace reclaim
