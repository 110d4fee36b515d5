// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/node_reclaim_controller.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "kube/status.h"
#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"
#include "operator/policy/conditions.h"
#include "operator/policy/node_status.h"

namespace reclaim::op {
namespace {

constexpr char kObjectManager[] = "reclaim-operator-nodereclaim";
constexpr char kStatusManager[] = "reclaim-operator-nodereclaim-status";

}  // namespace

NodeReclaimController::NodeReclaimController(kube::Client& client, const Caches& caches,
                                             const AgentBook& book, Clock& clock,
                                             prometheus::Registry& registry,
                                             const WritePacerOptions& pace)
    : client_(client),
      caches_(caches),
      book_(book),
      clock_(clock),
      registry_(registry),
      pacer_(pace) {
  for (const char* result : {"success", "error"}) {
    CounterOf(registry_, rows::kStatusWrites, {"NodeReclaim", result});
  }
}

absl::StatusOr<ReconcileResult> NodeReclaimController::Reconcile(const std::string& node_name) {
  const std::shared_ptr<const Node> node = caches_.nodes.Get(node_name);
  if (node == nullptr) {
    pacer_.Forget(node_name);
    written_.Forget(node_name);
    return ReconcileResult{};
  }
  const AgentBook::Entry agent = book_.Find(node_name);
  const bool unsettled = agent.observation.link == AgentObservation::Link::kUnsettled;
  ReconcileResult result;
  if (unsettled) result.requeue_after = agent.settles_in;

  std::shared_ptr<const NodeReclaim> stored =
      written_.Newest(node_name, caches_.node_reclaims.Get(node_name), clock_.Monotonic());
  if (stored == nullptr && unsettled && agent.observation.report == nullptr) {
    return result;  // nothing to tell yet
  }
  const bool owned = stored != nullptr && stored->owner_uid == node->uid;
  kswapd::v1alpha1::NodeReclaimStatus before;
  if (owned) before = stored->status;
  const auto next = NextNodeStatus(agent.observation, before, clock_.Now());
  if (owned && SaysTheSame(next, before)) {
    if (const auto left = written_.TrustLeft(node_name, clock_.Monotonic())) {
      result.requeue_after = std::min(*left, result.requeue_after.value_or(*left));
    }
    return result;
  }

  const absl::Duration wait = pacer_.Take(node_name, clock_.Monotonic());
  if (wait > absl::ZeroDuration()) {
    result.requeue_after = std::min(wait, result.requeue_after.value_or(wait));
    result.postponed = true;
    return result;
  }
  if (!owned) {
    const absl::Status made = EnsureObject(*node, stored.get());
    if (!made.ok()) return made;
  }
  const absl::Status written = WriteStatus(node_name, next);
  CounterOf(registry_, rows::kStatusWrites, {"NodeReclaim", written.ok() ? "success" : "error"})
      .Increment();
  if (!written.ok()) return written;
  // By then the cache has seen this write, or has gone past it.
  if (!result.requeue_after.has_value()) result.requeue_after = LastWritten<NodeReclaim>::kTrust;
  return result;
}

absl::Status NodeReclaimController::EnsureObject(const Node& node, const NodeReclaim* stored) {
  if (stored != nullptr) {
    LogInfo("nodereclaim of an earlier node replaced", {{"node", node.name}});
    absl::Status deleted = client_.Delete(NodeReclaims(), {"", node.name}, {.uid = stored->uid});
    if (!deleted.ok() && !kube::IsNotFound(deleted)) return deleted;
  }
  return client_
      .Apply(NodeReclaims(), MakeNodeReclaim(node),
             {.field_manager = kObjectManager, .force = true})
      .status();
}

absl::Status NodeReclaimController::WriteStatus(const std::string& name,
                                                const kswapd::v1alpha1::NodeReclaimStatus& status) {
  const auto object = client_.ApplyStatus(NodeReclaims(), MakeNodeReclaimStatus(name, status),
                                          {.field_manager = kStatusManager, .force = true});
  if (!object.ok()) return object.status();
  auto written = ProjectNodeReclaim(*object);
  if (!written.ok()) return written.status();
  written_.Remember(name, *std::move(written), clock_.Monotonic());
  return absl::OkStatus();
}

}  // namespace reclaim::op
