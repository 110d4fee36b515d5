// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_OPERATOR_H_
#define RECLAIM_OPERATOR_OPERATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/health_endpoint.h"
#include "kube/cancellation.h"
#include "kube/client.h"
#include "operator/agents/agent_book.h"
#include "operator/agents/agent_server.h"
#include "operator/agents/agent_sessions.h"
#include "operator/agents/kube_token_reviewer.h"
#include "operator/agents/review_pool.h"
#include "operator/controllers/caches.h"
#include "operator/controllers/controller.h"
#include "operator/controllers/node_reclaim_controller.h"
#include "operator/controllers/planner.h"
#include "operator/controllers/policy_status_controller.h"
#include "operator/metrics/agent_metrics.h"
#include "operator/pki/authority_store.h"
#include "operator/pki/certificate_folder.h"
#include "operator/pki/serving_certificate.h"
#include "prometheus/collectable.h"
#include "prometheus/registry.h"

namespace reclaim::op {

struct OperatorOptions {
  std::string name_space = "reclaim-system";
  std::string service_name = "reclaim-operator";
  std::string grpc_address = "[::]:8443";
  std::string agent_service_account = "reclaim-system:reclaim-node-agent";  // NAMESPACE:NAME
  std::string tls_dir = "/dev/shm";  // where the serving key lies; memory
  AgentBookOptions book;
};

// The whole operator but for its HTTP endpoints: every part, and how they are connected.
//
//   caches ─► planner ─► sessions ─► agents' streams ─► book ─► NodeReclaim.status
//                └─► ReclaimPolicy.status ◄── caches (NodeReclaims)
//
// Start returns at once; a starter thread waits for the caches and the certificate, makes the first
// plan, and only then lets agents in: "no policy" is never said because something is not known yet.
class Operator : public prometheus::Collectable {
 public:
  // `on_fatal` is called when the operator cannot ever serve (the agents' port cannot be bound).
  // References must outlive the operator.
  Operator(OperatorOptions options, kube::Client& client, CertificateFolder& folder, Clock& clock,
           prometheus::Registry& registry, std::function<void()> on_fatal);
  ~Operator() override;  // Stop()

  void Start();
  // Takes no more news in, tells the agents to come back later, then writes the statuses that still
  // wait: the API client must still work.
  void Stop();

  // For the health endpoint.
  std::vector<HealthCheck> Liveness();
  std::vector<HealthCheck> Readiness();

  // Port of the agents' server; 0 while it does not listen.
  int agent_port() const;

  // Metrics that are looked up at a scrape; the others are in the registry. Thread-safe.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  void Connect();
  void Serve();
  Planner::Input ReadCaches() const;
  void Publish(const Planner::Output& output);

  const OperatorOptions options_;
  const CertificateFolder& folder_;
  const std::function<void()> on_fatal_;

  Caches caches_;
  AgentMetrics agent_metrics_;
  AgentSessions sessions_;
  AgentBook book_;
  KubeTokenReviewer reviewer_;
  ReviewPool reviews_;
  const StreamEnvironment environment_;
  NodeReclaimController node_reclaims_;
  PolicyStatusController policy_status_;
  Controller node_controller_;
  Controller policy_controller_;
  Planner planner_;
  AuthorityStore authorities_;
  ServingCertificate certificate_;

  kube::Cancellation cancellation_;
  std::thread starter_;
  mutable absl::Mutex mutex_;
  std::unique_ptr<AgentServer> server_ ABSL_GUARDED_BY(mutex_);  // null until caches are in sync
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_OPERATOR_H_
