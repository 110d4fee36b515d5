// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/queue_metrics.h"

#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {

QueueMetrics::QueueMetrics(prometheus::Registry& registry, absl::string_view name)
    : depth_(GaugeOf(registry, rows::kQueueDepth, {name})),
      adds_(CounterOf(registry, rows::kQueueAdds, {name})),
      queued_(HistogramOf(registry, rows::kQueueSeconds, {name})),
      worked_(HistogramOf(registry, rows::kQueueWorkSeconds, {name})),
      retries_(CounterOf(registry, rows::kQueueRetries, {name})) {}

void QueueMetrics::OnAdd(size_t depth) {
  adds_.Increment();
  depth_.Set(static_cast<double>(depth));
}

void QueueMetrics::OnGet(absl::Duration queued, size_t depth) {
  queued_.Observe(absl::ToDoubleSeconds(queued));
  depth_.Set(static_cast<double>(depth));
}

void QueueMetrics::OnDone(absl::Duration worked) { worked_.Observe(absl::ToDoubleSeconds(worked)); }

void QueueMetrics::OnRetry() { retries_.Increment(); }

}  // namespace reclaim::op
