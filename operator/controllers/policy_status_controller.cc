// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/policy_status_controller.h"

#include <utility>

#include "common/log.h"
#include "kube/status.h"
#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"
#include "operator/policy/conditions.h"
#include "operator/policy/content_hash.h"

namespace reclaim::op {
namespace {

constexpr char kStatusManager[] = "reclaim-operator-policy-status";

bool SameRollout(const kswapd::v1alpha1::ReclaimPolicyStatus& a,
                 const kswapd::v1alpha1::ReclaimPolicyStatus& b) {
  return SerializeDeterministically(a.rollout()) == SerializeDeterministically(b.rollout());
}

}  // namespace

PolicyStatusController::PolicyStatusController(kube::Client& client, const Caches& caches,
                                               const AgentSessions& sessions, Clock& clock,
                                               prometheus::Registry& registry,
                                               const WritePacerOptions& pace)
    : client_(client),
      caches_(caches),
      sessions_(sessions),
      clock_(clock),
      registry_(registry),
      pacer_(pace) {
  for (const char* result : {"success", "error"}) {
    CounterOf(registry_, rows::kStatusWrites, {"ReclaimPolicy", result});
  }
}

absl::StatusOr<ReconcileResult> PolicyStatusController::Reconcile(const std::string& policy_name) {
  const auto cached = caches_.policies.Get(policy_name);
  if (cached == nullptr) {
    pacer_.Forget(policy_name);
    written_.Forget(policy_name);
    return ReconcileResult{};
  }
  const std::shared_ptr<const World> world = sessions_.world();
  const PolicyPlan* plan = world == nullptr ? nullptr : world->FindPolicyPlan(policy_name);
  // The planner has not seen the policy yet; it adds the key again when it has.
  if (plan == nullptr) return ReconcileResult{};

  // Decide about the policy that the plan was made for, on top of the newest status.
  Policy policy = *world->FindPolicy(policy_name);
  auto newest = written_.Newest(policy_name, cached, clock_.Monotonic());
  if (newest->policy.uid != cached->policy.uid) {
    // Deleted and made again since the write. The cache never is behind in that: what was written
    // to came out of it.
    written_.Forget(policy_name);
    newest = cached;
  }
  // The planner has not seen the new one yet, as above.
  if (newest->policy.uid != policy.uid) return ReconcileResult{};
  policy.status = newest->policy.status;

  PolicyObservation observation;
  observation.tied = plan->tied;
  observation.nodes.reserve(plan->nodes.size());
  for (const std::string& node : plan->nodes) {
    const auto reclaim = caches_.node_reclaims.Get(node);
    observation.nodes.push_back(
        {node, reclaim == nullptr ? nullptr
                                  : std::shared_ptr<const kswapd::v1alpha1::NodeReclaimStatus>(
                                        reclaim, &reclaim->status)});
  }
  const auto next = NextPolicyStatus(policy, observation, clock_.Now());
  if (SaysTheSame(next, policy.status)) {
    return ReconcileResult{written_.TrustLeft(policy_name, clock_.Monotonic())};
  }

  // Counts can wait; nodes wait for the release.
  const bool releases = !SameRollout(next, policy.status);
  const absl::Duration wait = pacer_.Take(policy_name, clock_.Monotonic());
  if (wait > absl::ZeroDuration() && !releases) {
    return ReconcileResult{.requeue_after = wait, .postponed = true};
  }

  const absl::Status written = WriteStatus(policy, next);
  CounterOf(registry_, rows::kStatusWrites, {"ReclaimPolicy", written.ok() ? "success" : "error"})
      .Increment();
  if (kube::IsNotFound(written)) return ReconcileResult{};  // deleted meanwhile
  if (!written.ok()) return written;
  if (next.rollout().update_revision() != policy.status.rollout().update_revision()) {
    LogInfo("policy released", {{"policy", policy_name},
                                {"generation", policy.generation},
                                {"revision", next.rollout().update_revision()}});
  }
  return ReconcileResult{LastWritten<StoredPolicy>::kTrust};
}

absl::Status PolicyStatusController::WriteStatus(
    const Policy& policy, const kswapd::v1alpha1::ReclaimPolicyStatus& status) {
  const auto object =
      client_.ApplyStatus(ReclaimPolicies(), MakePolicyStatus(policy.name, policy.uid, status),
                          {.field_manager = kStatusManager, .force = true});
  if (!object.ok()) return object.status();
  auto written = ProjectPolicy(*object);
  if (!written.ok()) return written.status();
  written_.Remember(policy.name, *std::move(written), clock_.Monotonic());
  return absl::OkStatus();
}

}  // namespace reclaim::op
