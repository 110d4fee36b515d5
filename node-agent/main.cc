// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "common/clock.h"
#include "common/grpc_log.h"
#include "common/health_endpoint.h"
#include "common/log.h"
#include "common/metrics_endpoint.h"
#include "common/process_metrics.h"
#include "common/signals.h"
#include "node-agent/agent.h"
#include "node-agent/link/operator_link.h"
#include "node-agent/observe/agent_metrics.h"
#include "node-agent/options.h"
#include "node-agent/startup.h"
#include "node-agent/state/state_folder.h"

namespace reclaim::agent {
namespace {

int Main(int argc, char** argv) {
  // One malloc arena: with an arena per thread the resident size grows with the machine's CPUs.
  mallopt(M_ARENA_MAX, 1);
  IgnoreSigpipe();
  RouteGrpcLog(nullptr);
  SignalWaiter signals;
  const AgentOptions options = ParseAgentOptionsOrExit(argc, argv);
  const bool alone = !options.policy.empty();

  SystemClock clock;
  const HostFiles files(options.host);
  RealKernelWriter writer;
  const StateFolder state = OrExit(StateFolder::Hold(options.state_dir));
  Journal journal = OpenJournalOrExit(options.state_dir, files);
  Checkpoint checkpoint(options.state_dir + "/checkpoint.pb");
  PolicyFile policy_file(options.policy);

  ProactiveReclaimer reclaimer(files, writer, clock);
  OperatorLink link({.address = options.operator_address,
                     .server_name = options.operator_server_name,
                     .ca_file = options.operator_ca,
                     .token_file = options.token_file,
                     .agent_version = std::string(Version()),
                     .node_name = options.node_name,
                     .delay = nullptr},
                    clock);
  Agent agent({.files = files,
               .writer = writer,
               .clock = clock,
               .journal = journal,
               .reclaimer = reclaimer,
               .checkpoint = alone ? nullptr : &checkpoint,
               .policy_file = alone ? &policy_file : nullptr,
               .publish = [&link](const auto& status,
                                  const auto& version) { link.SetStatus(status, version); },
               .tick = options.tick});

  const AgentMetrics metrics(
      [&agent] { return agent.View(); },
      [&link, alone] { return alone ? std::nullopt : std::optional(link.Stats()); });
  const ProcessMetrics process("node-agent");
  const auto metrics_endpoint =
      OrExit(MetricsEndpoint::Start(options.metrics_address, {&metrics, &process}));
  const auto health_endpoint = OrExit(
      HealthEndpoint::Start(options.health_address, {{"tick", [&] { return agent.Liveness(); }}},
                            {{"tick", [&] { return agent.Readiness(); }}}));
  LogInfo("started", {{"version", Version()},
                      {"metrics", metrics_endpoint->port()},
                      {"health", health_endpoint->port()},
                      {"source", alone ? options.policy : options.operator_address}});

  reclaimer.Start();
  agent.Start();
  if (!alone) link.Start([&agent](SpecUpdate update) { agent.Offer(std::move(update)); });
  LogInfo("stopping", {{"signal", signals.Wait()}});
  link.Stop();
  agent.Stop();
  reclaimer.Stop();
  return 0;
}

}  // namespace
}  // namespace reclaim::agent

int main(int argc, char** argv) { return reclaim::agent::Main(argc, argv); }
