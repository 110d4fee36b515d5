// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_METRICS_QUEUE_METRICS_H_
#define RECLAIM_OPERATOR_METRICS_QUEUE_METRICS_H_

#include <string>

#include "kube/work_queue.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// The workqueue_* metrics of one queue, but for the two that are looked up at a scrape
// (operator_collector.h). Thread-safe.
class QueueMetrics final : public kube::WorkQueueObserver {
 public:
  QueueMetrics(prometheus::Registry& registry, absl::string_view name);

  void OnAdd(size_t depth) override;
  void OnGet(absl::Duration queued, size_t depth) override;
  void OnDone(absl::Duration worked) override;
  void OnRetry() override;

 private:
  prometheus::Gauge& depth_;
  prometheus::Counter& adds_;
  prometheus::Histogram& queued_;
  prometheus::Histogram& worked_;
  prometheus::Counter& retries_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_METRICS_QUEUE_METRICS_H_
