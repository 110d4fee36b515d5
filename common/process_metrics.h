// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_PROCESS_METRICS_H_
#define RECLAIM_COMMON_PROCESS_METRICS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/metric_table.h"
#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace reclaim {

// Version of the programs, as in CMakeLists.txt: "0.1.0".
absl::string_view Version();

// The process_* metrics that every Prometheus client library has (CPU seconds, resident and virtual
// memory, open and allowed file descriptors, threads, start time) and reclaim_build_info.
//
// Reads /proc/self at each scrape; a value that cannot be read is left out of that scrape.
// Thread-safe: no state.
class ProcessMetrics : public prometheus::Collectable {
 public:
  // `component` is the label of reclaim_build_info: "operator" or "node-agent".
  // `proc_root` is where procfs is mounted, for tests.
  explicit ProcessMetrics(std::string component, std::string proc_root = "/proc");

  std::vector<prometheus::MetricFamily> Collect() const override;

  // The rows of what Collect returns, for the program's reference page.
  static absl::Span<const MetricRow> Table();

 private:
  const std::string component_;
  const std::string proc_root_;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_PROCESS_METRICS_H_
