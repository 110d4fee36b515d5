// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/reasons.h"
#include "operator/metrics/metric_rows.h"
#include "operator/pki/server_credentials.h"

namespace reclaim::op {
namespace {

constexpr int kNodeWorkers = 2;
constexpr int kPolicyWorkers = 1;
// How often the log says what is being waited for.
constexpr absl::Duration kSayWaiting = absl::Minutes(2);
// A policy's counts are made anew at most this often: each looks at all of its nodes.
constexpr absl::Duration kCoalesceReports = absl::Milliseconds(300);

}  // namespace

Operator::Operator(OperatorOptions options, kube::Client& client, CertificateFolder& folder,
                   Clock& clock, prometheus::Registry& registry, std::function<void()> on_fatal)
    : options_(std::move(options)),
      folder_(folder),
      on_fatal_(std::move(on_fatal)),
      caches_(client, clock),
      agent_metrics_(registry),
      book_(
          clock,
          [this](absl::string_view node, absl::Duration delay) {
            node_controller_.AddAfter(node, delay);
          },
          options_.book),
      reviewer_(client, clock, agent_metrics_),
      reviews_(reviewer_, clock),
      environment_{absl::StrCat("system:serviceaccount:", options_.agent_service_account),
                   reviews_,
                   sessions_,
                   book_,
                   agent_metrics_,
                   clock},
      node_reclaims_(client, caches_, book_, clock, registry),
      policy_status_(client, caches_, sessions_, clock, registry),
      node_controller_(
          "nodereclaim", kNodeWorkers,
          [this](const std::string& key) { return node_reclaims_.Reconcile(key); }, clock,
          registry),
      policy_controller_(
          "reclaimpolicy-status", kPolicyWorkers,
          [this](const std::string& key) { return policy_status_.Reconcile(key); }, clock,
          registry),
      planner_([this] { return ReadCaches(); },
               [this](const Planner::Output& output) { Publish(output); }, clock, registry),
      authorities_(client, clock, options_.name_space),
      certificate_(
          authorities_, folder, clock,
          {.dns_names = {absl::StrCat(options_.service_name, ".", options_.name_space, ".svc"),
                         absl::StrCat(options_.service_name, ".", options_.name_space,
                                      ".svc.cluster.local")}}) {
  Connect();
}

Operator::~Operator() { Stop(); }

void Operator::Connect() {
  RouteGrpcLog([this] { agent_metrics_.CountHandshakeFailure(); });
  caches_.policies.AddHandler({
      .added = [this](auto, auto&) { planner_.Poke(); },
      .updated = [this](auto, auto&, auto&) { planner_.Poke(); },
      .deleted =
          [this](absl::string_view name, auto&, bool) {
            planner_.Poke();
            policy_controller_.Add(name);
          },
  });
  caches_.nodes.AddHandler({
      .added =
          [this](absl::string_view name, auto&) {
            planner_.Poke();
            book_.AddNode(name);
            node_controller_.Add(name);
          },
      .updated = [this](auto, auto&, auto&) { planner_.Poke(); },
      .deleted =
          [this](absl::string_view name, auto&, bool) {
            planner_.Poke();
            book_.RemoveNode(name);
            node_controller_.Add(name);
          },
  });
  const auto on_node_reclaim = [this](absl::string_view name) {
    node_controller_.Add(name);
    const std::shared_ptr<const World> world = sessions_.world();
    const NodePlan* plan = world == nullptr ? nullptr : world->FindNode(name);
    if (plan != nullptr && !plan->policy.empty()) {
      policy_controller_.AddAfter(plan->policy, kCoalesceReports);
    }
  };
  caches_.node_reclaims.AddHandler({
      .added = [on_node_reclaim](absl::string_view name, auto&) { on_node_reclaim(name); },
      .updated = [on_node_reclaim](absl::string_view name, auto&, auto&) { on_node_reclaim(name); },
      .deleted = [on_node_reclaim](absl::string_view name, auto&, bool) { on_node_reclaim(name); },
  });
}

Planner::Input Operator::ReadCaches() const {
  Planner::Input input;
  for (const auto& [key, stored] : caches_.policies.List())
    input.policies.push_back(stored->policy);
  for (const auto& [key, node] : caches_.nodes.List()) input.nodes.push_back(node);
  return input;
}

void Operator::Publish(const Planner::Output& output) {
  sessions_.Publish(output.world, output.nodes, output.changed_at);
  for (const std::string& policy : output.policies) policy_controller_.Add(policy);
}

void Operator::Start() {
  caches_.Start();
  certificate_.Start();
  starter_ = std::thread([this] { Serve(); });
}

void Operator::Serve() {
  while (!caches_.WaitForSync(kSayWaiting)) {
    if (cancellation_.cancelled()) return;
    LogWarning("waiting for the caches", {{"missing", caches_.Missing()}});
  }
  planner_.PlanNow();
  planner_.Start();
  node_controller_.Start();
  policy_controller_.Start();
  LogInfo("caches in sync", {{"nodes", caches_.nodes.size()},
                             {"policies", caches_.policies.size()},
                             {"nodereclaims", caches_.node_reclaims.size()}});
  while (!certificate_.WaitUntilReady(kSayWaiting)) {
    if (cancellation_.cancelled()) return;
    LogWarning("waiting for the certificate of the agents' port");
  }
  auto server = AgentServer::Start(
      {.address = options_.grpc_address, .credentials = ServerCredentials(folder_)}, environment_);
  if (!server.ok()) {
    LogError("cannot serve agents", {{"error", server.status().ToString()}});
    on_fatal_();
    return;
  }
  LogInfo("serving agents", {{"address", options_.grpc_address}, {"port", (*server)->port()}});
  absl::MutexLock lock(&mutex_);
  server_ = *std::move(server);
}

void Operator::Stop() {
  // Whatever the starter waits for ends.
  cancellation_.Cancel();
  certificate_.Stop();
  caches_.Stop();
  if (starter_.joinable()) starter_.join();
  std::unique_ptr<AgentServer> server;
  {
    absl::MutexLock lock(&mutex_);
    server = std::move(server_);
  }
  if (server != nullptr) server->Stop();
  reviews_.Stop();
  planner_.Stop();
  node_controller_.Stop();
  policy_controller_.Stop();
  RouteGrpcLog(nullptr);
}

std::vector<HealthCheck> Operator::Liveness() {
  return {{"planner", [this] { return planner_.Healthy(); }}};
}

std::vector<HealthCheck> Operator::Readiness() {
  return {
      {"caches",
       [this] {
         return caches_.HasSynced()
                    ? absl::OkStatus()
                    : absl::UnavailableError(absl::StrCat("not in sync yet: ", caches_.Missing()));
       }},
      {"agents-port",
       [this] {
         return agent_port() != 0 ? absl::OkStatus()
                                  : absl::UnavailableError("agents are not served yet");
       }},
  };
}

int Operator::agent_port() const {
  absl::MutexLock lock(&mutex_);
  return server_ == nullptr ? 0 : server_->port();
}

std::vector<prometheus::MetricFamily> Operator::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  const auto gauge = [&](const MetricRow& row, double value) {
    families.push_back(NewFamily(row));
    AddSample(row, {}, value, families.back());
  };
  gauge(rows::kConnectedAgents, book_.connected());
  const absl::Time expiry = certificate_.expiry();
  if (expiry != absl::InfinitePast()) {
    gauge(rows::kCertificateExpiry, static_cast<double>(absl::ToUnixSeconds(expiry)));
  }
  if (const std::shared_ptr<const World> world = sessions_.world()) {
    gauge(rows::kNodes, static_cast<double>(world->nodes().size()));
    gauge(rows::kPolicies, static_cast<double>(world->policies().size()));
    gauge(rows::kServedSpecs, static_cast<double>(world->spec_count()));
    std::map<std::string, int> held = {{reason::kPaused, 0},
                                       {reason::kInvalidSpec, 0},
                                       {reason::kNotImplemented, 0},
                                       {reason::kRolloutPending, 0}};
    for (const auto& [name, plan] : world->nodes()) {
      if (plan.spec == nullptr) ++held[plan.hold_reason];
    }
    families.push_back(NewFamily(rows::kNodesHeld));
    for (const auto& [why, count] : held) {
      AddSample(rows::kNodesHeld, {why}, count, families.back());
    }
  }
  const std::pair<const MetricRow*, std::function<double(const Caches::Cache&)>> cache_rows[] = {
      {&rows::kCacheSynced, [](const auto& c) { return c.stats.synced ? 1 : 0; }},
      {&rows::kCacheObjects, [](const auto& c) { return c.objects; }},
      {&rows::kCacheLists, [](const auto& c) { return c.stats.lists; }},
      {&rows::kCacheListErrors, [](const auto& c) { return c.stats.list_errors; }},
      {&rows::kCacheWatches, [](const auto& c) { return c.stats.watches; }},
      {&rows::kCacheWatchErrors, [](const auto& c) { return c.stats.watch_errors; }},
      {&rows::kCacheEvents, [](const auto& c) { return c.stats.events; }},
      {&rows::kCacheRefusedObjects, [](const auto& c) { return c.refused; }}};
  const std::vector<Caches::Cache> caches = caches_.Stats();
  for (const auto& [row, value] : cache_rows) {
    families.push_back(NewFamily(*row));
    for (const Caches::Cache& cache : caches) {
      AddSample(*row, {cache.resource}, value(cache), families.back());
    }
  }
  for (const auto& [row, value] :
       {std::make_pair(&rows::kQueueUnfinishedSeconds, &kube::WorkQueue::UnfinishedWork),
        std::make_pair(&rows::kQueueLongestSeconds, &kube::WorkQueue::LongestRunning)}) {
    families.push_back(NewFamily(*row));
    for (const Controller* controller : {&node_controller_, &policy_controller_}) {
      AddSample(*row, {controller->name()}, absl::ToDoubleSeconds((controller->queue().*value)()),
                families.back());
    }
  }
  return families;
}

}  // namespace reclaim::op
