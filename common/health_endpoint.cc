// SPDX-License-Identifier: Apache-2.0
#include "common/health_endpoint.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace reclaim {
namespace {

HttpResponse Answer(const std::vector<HealthCheck>& checks, bool verbose) {
  std::string list;
  bool all_ok = true;
  for (const HealthCheck& check : checks) {
    const absl::Status status = check.check();
    if (status.ok()) {
      absl::StrAppend(&list, "[+]", check.name, " ok\n");
    } else {
      all_ok = false;
      absl::StrAppend(&list, "[-]", check.name, " failed: ", status.message(), "\n");
    }
  }
  HttpResponse response;
  response.status = all_ok ? 200 : 503;
  if (!all_ok) {
    response.body = absl::StrCat(list, "failed\n");
  } else {
    response.body = verbose ? absl::StrCat(list, "ok\n") : "ok";
  }
  return response;
}

HttpRoute Route(const char* path, std::vector<HealthCheck> checks) {
  return {.path = path, .handler = [checks = std::move(checks)](const HttpRequest& request) {
            return Answer(checks, request.has_parameter("verbose"));
          }};
}

}  // namespace

absl::StatusOr<std::unique_ptr<HealthEndpoint>> HealthEndpoint::Start(
    const std::string& address, std::vector<HealthCheck> liveness,
    std::vector<HealthCheck> readiness) {
  auto http = HttpEndpoint::Start(
      {.name = "health", .address = address},
      {Route("/healthz", std::move(liveness)), Route("/readyz", std::move(readiness))});
  if (!http.ok()) return http.status();
  return std::unique_ptr<HealthEndpoint>(new HealthEndpoint(*std::move(http)));
}

}  // namespace reclaim
