// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_POLICY_STATUS_CONTROLLER_H_
#define RECLAIM_OPERATOR_CONTROLLERS_POLICY_STATUS_CONTROLLER_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "kube/client.h"
#include "operator/agents/agent_sessions.h"
#include "operator/controllers/caches.h"
#include "operator/controllers/controller.h"
#include "operator/controllers/last_written.h"
#include "operator/controllers/write_pacer.h"
#include "operator/policy/policy_status.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// Writes ReclaimPolicy.status: the rollout, which is what releases a spec to the nodes, and then
// counts and conditions, coalesced to one write a second for each policy.
//
// Reconcile is the body of a Controller whose keys are policy names; thread-safe for different
// keys.
class PolicyStatusController {
 public:
  // References must outlive it.
  PolicyStatusController(kube::Client& client, const Caches& caches, const AgentSessions& sessions,
                         Clock& clock, prometheus::Registry& registry,
                         const WritePacerOptions& pace = {});

  absl::StatusOr<ReconcileResult> Reconcile(const std::string& policy_name);

 private:
  absl::Status WriteStatus(const Policy& policy,
                           const kswapd::v1alpha1::ReclaimPolicyStatus& status);

  kube::Client& client_;
  const Caches& caches_;
  const AgentSessions& sessions_;
  Clock& clock_;
  prometheus::Registry& registry_;
  WritePacer pacer_;
  LastWritten<StoredPolicy> written_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_POLICY_STATUS_CONTROLLER_H_
