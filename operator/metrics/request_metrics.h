// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_METRICS_REQUEST_METRICS_H_
#define RECLAIM_OPERATOR_METRICS_REQUEST_METRICS_H_

#include <string>

#include "kube/client.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// rest_client_requests_total. Thread-safe. `host` is "HOST:PORT" of the API server.
class RequestMetrics final : public kube::RequestObserver {
 public:
  RequestMetrics(prometheus::Registry& registry, std::string host)
      : registry_(registry), host_(std::move(host)) {}

  void OnRequest(absl::string_view method, absl::string_view code) override;

 private:
  prometheus::Registry& registry_;
  const std::string host_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_METRICS_REQUEST_METRICS_H_
