// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_METRICS_ENDPOINT_H_
#define RECLAIM_COMMON_METRICS_ENDPOINT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/http_endpoint.h"
#include "common/metric_table.h"
#include "prometheus/collectable.h"

namespace reclaim {

// /metrics in the Prometheus text format, version 0.0.4.
//
// The sources (a prometheus::Registry is one) are read at each scrape, one scrape at a time, and
// must outlive the endpoint. A source that throws costs its own families only: the scrape goes on,
// and the failure is counted in reclaim_metrics_source_errors_total.
class MetricsEndpoint {
 public:
  // `address` as in HttpEndpointOptions.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(
      const std::string& address, std::vector<const prometheus::Collectable*> sources);

  int port() const { return http_->port(); }

  // The rows that the endpoint itself adds to a scrape.
  static absl::Span<const MetricRow> Table();

 private:
  explicit MetricsEndpoint(std::unique_ptr<HttpEndpoint> http) : http_(std::move(http)) {}
  std::unique_ptr<HttpEndpoint> http_;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_METRICS_ENDPOINT_H_
