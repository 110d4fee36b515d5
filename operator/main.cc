// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/health_endpoint.h"
#include "common/log.h"
#include "common/metrics_endpoint.h"
#include "common/process_metrics.h"
#include "common/signals.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/transport.h"
#include "operator/agents/open_file_limit.h"
#include "operator/metrics/request_metrics.h"
#include "operator/operator.h"
#include "operator/options.h"
#include "prometheus/registry.h"

namespace reclaim::op {
namespace {

// The value, or the end of the process with what could not be done.
template <typename T>
T OrExit(absl::StatusOr<T> value, absl::string_view what) {
  if (value.ok()) return *std::move(value);
  LogError("cannot start", {{"what", what}, {"error", value.status().ToString()}});
  exit(1);
}

int Main(int argc, char** argv) {
  const Options options = ParseOptionsOrExit(argc, argv);
  IgnoreSigpipe();
  SignalWaiter signals;
  LogInfo("reclaim-operator starting", {{"version", Version()}});
  LogInfo("open files", {{"limit", OrExit(RaiseOpenFileLimit(), "raise the limit of open files")}});

  SystemClock clock;
  prometheus::Registry registry;
  const kube::ClientConfig config =
      OrExit(kube::LoadConfig({.kubeconfig_path = options.kubeconfig}), "find the API server");
  const std::unique_ptr<kube::Transport> transport = OrExit(
      kube::NewTransport(config, clock,
                         {.user_agent = absl::StrCat("reclaim-operator/", Version(), " (linux)"),
                          .max_connections = 12}),
      "load the API server's credentials");
  RequestMetrics request_metrics(registry, absl::StrCat(config.host, ":", config.port));
  kube::Client client(*transport, &request_metrics);
  LogInfo("API server", {{"host", config.host}, {"port", config.port}, {"from", config.source}});

  const std::unique_ptr<CertificateFolder> folder =
      OrExit(CertificateFolder::Create(options.op.tls_dir), "keep the serving certificate");
  std::atomic<bool> fatal = false;
  Operator op(options.op, client, *folder, clock, registry, [&fatal] {
    fatal = true;
    SignalWaiter::RequestStop();
  });
  const ProcessMetrics process_metrics("operator");
  const auto health =
      OrExit(HealthEndpoint::Start(options.health_address, op.Liveness(), op.Readiness()),
             "serve --health-address");
  const auto metrics =
      OrExit(MetricsEndpoint::Start(options.metrics_address, {&registry, &op, &process_metrics}),
             "serve --metrics-address");

  op.Start();
  LogInfo("stopping", {{"signal", signals.Wait()}});
  op.Stop();  // writes the statuses that still wait, so the client goes after it
  client.Shutdown();
  return fatal ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace
}  // namespace reclaim::op

int main(int argc, char** argv) { return reclaim::op::Main(argc, argv); }
