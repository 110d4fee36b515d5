// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/metric_rows.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/process_metrics.h"

namespace reclaim::op::rows {

using prometheus::MetricType;

const MetricRow kConnectedAgents = {"reclaim_operator_connected_agents", MetricType::Gauge,
                                    "Nodes whose agent has a stream."};
const MetricRow kPushes = {"reclaim_operator_pushes_total", MetricType::Counter,
                           "Specs sent to agents."};
const MetricRow kAcks = {"reclaim_operator_acks_total", MetricType::Counter,
                         "Specs that agents took over."};
const MetricRow kNacks = {"reclaim_operator_nacks_total", MetricType::Counter,
                          "Specs that agents refused."};
const MetricRow kStreamsRejected = {"reclaim_operator_streams_rejected_total",
                                    MetricType::Counter,
                                    "Streams that were not served, by reason.",
                                    {"reason"}};
const MetricRow kHandshakeFailures = {
    "reclaim_operator_tls_handshake_failures_total", MetricType::Counter,
    "Connections to the agents' port that did not speak TLS or broke it off."};
const MetricRow kApplyLatency = {"reclaim_operator_apply_latency_seconds", MetricType::Histogram,
                                 "Time from the watch event that changed a connected node's spec "
                                 "to the agent's acknowledgement."};
const MetricRow kTokenReviewSeconds = {"reclaim_operator_token_review_seconds",
                                       MetricType::Histogram,
                                       "Time that the review of an agent's token took."};
const MetricRow kCertificateExpiry = {
    "reclaim_operator_serving_certificate_expiry_timestamp_seconds", MetricType::Gauge,
    "When the certificate of the agents' port ends, in seconds since the epoch."};

const MetricRow kNodes = {"reclaim_operator_nodes", MetricType::Gauge, "Nodes of the cluster."};
const MetricRow kNodesHeld = {
    "reclaim_operator_nodes_held",
    MetricType::Gauge,
    "Nodes that keep what they have because their policy's spec is not released, by reason.",
    {"reason"}};
const MetricRow kPolicies = {"reclaim_operator_policies", MetricType::Gauge,
                             "ReclaimPolicy objects."};
const MetricRow kServedSpecs = {"reclaim_operator_served_specs", MetricType::Gauge,
                                "Different specs that nodes are being served."};
const MetricRow kPlanSeconds = {"reclaim_operator_plan_seconds", MetricType::Histogram,
                                "Time that deciding for all nodes took."};
const MetricRow kStatusWrites = {"reclaim_operator_status_writes_total",
                                 MetricType::Counter,
                                 "Writes of a status, by kind and result (success or error).",
                                 {"kind", "result"}};

const MetricRow kCacheSynced = {"reclaim_operator_cache_synced",
                                MetricType::Gauge,
                                "1 when the first list of the collection is complete.",
                                {"resource"}};
const MetricRow kCacheObjects = {"reclaim_operator_cache_objects",
                                 MetricType::Gauge,
                                 "Objects in the local copy of the collection.",
                                 {"resource"}};
const MetricRow kCacheLists = {"reclaim_operator_cache_lists_total",
                               MetricType::Counter,
                               "Complete lists of the collection.",
                               {"resource"}};
const MetricRow kCacheListErrors = {"reclaim_operator_cache_list_errors_total",
                                    MetricType::Counter,
                                    "Lists of the collection that failed.",
                                    {"resource"}};
const MetricRow kCacheWatches = {"reclaim_operator_cache_watches_total",
                                 MetricType::Counter,
                                 "Watches of the collection that opened.",
                                 {"resource"}};
const MetricRow kCacheWatchErrors = {
    "reclaim_operator_cache_watch_errors_total",
    MetricType::Counter,
    "Watches of the collection that did not end as the server had said.",
    {"resource"}};
const MetricRow kCacheEvents = {"reclaim_operator_cache_events_total",
                                MetricType::Counter,
                                "Watch events of the collection.",
                                {"resource"}};
const MetricRow kCacheRefusedObjects = {
    "reclaim_operator_cache_refused_objects_total",
    MetricType::Counter,
    "Objects of the collection that could not be read and of which the last good version is kept.",
    {"resource"}};

const MetricRow kReconcileTotal = {"controller_runtime_reconcile_total",
                                   MetricType::Counter,
                                   "Reconciliations, by controller and result.",
                                   {"controller", "result"}};
const MetricRow kReconcileErrors = {"controller_runtime_reconcile_errors_total",
                                    MetricType::Counter,
                                    "Reconciliations that failed.",
                                    {"controller"}};
const MetricRow kReconcileSeconds = {"controller_runtime_reconcile_time_seconds",
                                     MetricType::Histogram,
                                     "Time that a reconciliation took.",
                                     {"controller"}};
const MetricRow kActiveWorkers = {"controller_runtime_active_workers",
                                  MetricType::Gauge,
                                  "Workers of the controller that reconcile right now.",
                                  {"controller"}};
const MetricRow kMaxConcurrentReconciles = {"controller_runtime_max_concurrent_reconciles",
                                            MetricType::Gauge,
                                            "Workers of the controller.",
                                            {"controller"}};

const MetricRow kQueueDepth = {
    "workqueue_depth", MetricType::Gauge, "Keys that wait for a worker.", {"name"}};
const MetricRow kQueueAdds = {
    "workqueue_adds_total", MetricType::Counter, "Keys added to the queue.", {"name"}};
const MetricRow kQueueSeconds = {"workqueue_queue_duration_seconds",
                                 MetricType::Histogram,
                                 "Time that a key waited for a worker.",
                                 {"name"}};
const MetricRow kQueueWorkSeconds = {"workqueue_work_duration_seconds",
                                     MetricType::Histogram,
                                     "Time that a worker spent on a key.",
                                     {"name"}};
const MetricRow kQueueUnfinishedSeconds = {"workqueue_unfinished_work_seconds",
                                           MetricType::Gauge,
                                           "Sum of the time that the keys under work have been so.",
                                           {"name"}};
const MetricRow kQueueLongestSeconds = {"workqueue_longest_running_processor_seconds",
                                        MetricType::Gauge,
                                        "Longest time that a key under work has been so.",
                                        {"name"}};
const MetricRow kQueueRetries = {"workqueue_retries_total",
                                 MetricType::Counter,
                                 "Keys that were put back after a failure.",
                                 {"name"}};
const MetricRow kRestRequests = {"rest_client_requests_total",
                                 MetricType::Counter,
                                 "HTTP exchanges with the API server, by code, method and host.",
                                 {"code", "method", "host"}};

absl::Span<const MetricRow> Table() {
  static const auto& table = *new std::vector<MetricRow>{kConnectedAgents,
                                                         kPushes,
                                                         kAcks,
                                                         kNacks,
                                                         kStreamsRejected,
                                                         kHandshakeFailures,
                                                         kApplyLatency,
                                                         kTokenReviewSeconds,
                                                         kCertificateExpiry,
                                                         kNodes,
                                                         kNodesHeld,
                                                         kPolicies,
                                                         kServedSpecs,
                                                         kPlanSeconds,
                                                         kStatusWrites,
                                                         kCacheSynced,
                                                         kCacheObjects,
                                                         kCacheLists,
                                                         kCacheListErrors,
                                                         kCacheWatches,
                                                         kCacheWatchErrors,
                                                         kCacheEvents,
                                                         kCacheRefusedObjects,
                                                         kReconcileTotal,
                                                         kReconcileErrors,
                                                         kReconcileSeconds,
                                                         kActiveWorkers,
                                                         kMaxConcurrentReconciles,
                                                         kQueueDepth,
                                                         kQueueAdds,
                                                         kQueueSeconds,
                                                         kQueueWorkSeconds,
                                                         kQueueUnfinishedSeconds,
                                                         kQueueLongestSeconds,
                                                         kQueueRetries,
                                                         kRestRequests};
  return table;
}

}  // namespace reclaim::op::rows

namespace reclaim::op {

std::string OperatorMetricReference() {
  const absl::Span<const MetricRow> process = ProcessMetrics::Table();
  std::vector<MetricRow> table(rows::Table().begin(), rows::Table().end());
  table.insert(table.end(), process.begin(), process.end());
  return absl::StrCat(
      "# Metrics of the operator\n\n"
      "`reclaim-operator --metrics-reference` prints this page, and a test holds both equal.\n\n"
      "- `controller_runtime_*`, `workqueue_*` and `rest_client_*` mean what they mean in "
      "operators "
      "written in Go, so dashboards made for those work here.\n"
      "- Histograms have buckets from 1 ms to 60 s.\n\n",
      MetricReference(table));
}

}  // namespace reclaim::op
