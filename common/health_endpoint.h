// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_HEALTH_ENDPOINT_H_
#define RECLAIM_COMMON_HEALTH_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/http_endpoint.h"

namespace reclaim {

// A named question with a cheap answer: OK, or why not. Called on the endpoint's threads, several
// at the same time; must not block.
struct HealthCheck {
  std::string name;
  std::function<absl::Status()> check;
};

// /healthz (should this process be restarted?) and /readyz (should it get traffic?), as kubelet and
// admins know them: 200 and "ok" when all checks hold, else 503 and the list of all checks.
// "?verbose" always gives the list: "[+]name ok" and "[-]name failed: why".
class HealthEndpoint {
 public:
  // `address` as in HttpEndpointOptions.
  static absl::StatusOr<std::unique_ptr<HealthEndpoint>> Start(const std::string& address,
                                                               std::vector<HealthCheck> liveness,
                                                               std::vector<HealthCheck> readiness);

  int port() const { return http_->port(); }

 private:
  explicit HealthEndpoint(std::unique_ptr<HttpEndpoint> http) : http_(std::move(http)) {}
  std::unique_ptr<HttpEndpoint> http_;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_HEALTH_ENDPOINT_H_
