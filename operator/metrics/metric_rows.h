// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_METRICS_METRIC_ROWS_H_
#define RECLAIM_OPERATOR_METRICS_METRIC_ROWS_H_

#include <string>

#include "absl/types/span.h"
#include "common/metric_table.h"

// The one place that names the operator's metrics. The controller_runtime_*, workqueue_* and
// rest_client_* names are those of controller-runtime and client-go, so that the dashboards that
// admins have work here too.
namespace reclaim::op::rows {

// Agents.
extern const MetricRow kConnectedAgents;
extern const MetricRow kPushes;
extern const MetricRow kAcks;
extern const MetricRow kNacks;
extern const MetricRow kStreamsRejected;
extern const MetricRow kHandshakeFailures;
extern const MetricRow kApplyLatency;
extern const MetricRow kTokenReviewSeconds;
extern const MetricRow kCertificateExpiry;

// What is decided.
extern const MetricRow kNodes;
extern const MetricRow kNodesHeld;
extern const MetricRow kPolicies;
extern const MetricRow kServedSpecs;
extern const MetricRow kPlanSeconds;
extern const MetricRow kStatusWrites;

// Caches.
extern const MetricRow kCacheSynced;
extern const MetricRow kCacheObjects;
extern const MetricRow kCacheLists;
extern const MetricRow kCacheListErrors;
extern const MetricRow kCacheWatches;
extern const MetricRow kCacheWatchErrors;
extern const MetricRow kCacheEvents;
extern const MetricRow kCacheRefusedObjects;

// As controller-runtime.
extern const MetricRow kReconcileTotal;
extern const MetricRow kReconcileErrors;
extern const MetricRow kReconcileSeconds;
extern const MetricRow kActiveWorkers;
extern const MetricRow kMaxConcurrentReconciles;

// As client-go.
extern const MetricRow kQueueDepth;
extern const MetricRow kQueueAdds;
extern const MetricRow kQueueSeconds;
extern const MetricRow kQueueWorkSeconds;
extern const MetricRow kQueueUnfinishedSeconds;
extern const MetricRow kQueueLongestSeconds;
extern const MetricRow kQueueRetries;
extern const MetricRow kRestRequests;

// All of the above.
absl::Span<const MetricRow> Table();

}  // namespace reclaim::op::rows

namespace reclaim::op {

// docs/metrics-operator.md; `reclaim-operator --metrics-reference` prints it. With the rows of
// common/process_metrics.h.
std::string OperatorMetricReference();

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_METRICS_METRIC_ROWS_H_
