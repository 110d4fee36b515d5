// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/agent_sessions.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace reclaim::op {

void AgentSessions::Publish(std::shared_ptr<const World> world,
                            const std::vector<std::string>& changed, absl::Duration changed_at) {
  std::vector<std::shared_ptr<AgentSession>> poked;
  std::vector<std::shared_ptr<AgentSession>> orphaned;
  {
    absl::MutexLock lock(&mutex_);
    world_ = std::move(world);
    for (const std::string& node : changed) {
      const auto slot = slots_.find(node);
      if (slot == slots_.end()) continue;
      const NodePlan* plan = world_->FindNode(node);
      const bool same_node = plan != nullptr && plan->uid == slot->second.node_uid;
      (same_node ? poked : orphaned).push_back(slot->second.session);
    }
  }
  for (const auto& session : poked) session->PlanChanged(changed_at);
  for (const auto& session : orphaned) {
    session->End({grpc::StatusCode::PERMISSION_DENIED, "the Node object is gone or was replaced"});
  }
}

std::variant<uint64_t, Rejection> AgentSessions::Open(
    const AgentIdentity& identity, const std::shared_ptr<AgentSession>& session) {
  std::shared_ptr<AgentSession> replaced;
  std::optional<grpc::Status> ended;
  uint64_t number;
  {
    absl::MutexLock lock(&mutex_);
    const NodePlan* plan = world_ == nullptr ? nullptr : world_->FindNode(identity.node_name);
    if (plan == nullptr) {
      return Rejection{RejectionReason::kUnknownNode,
                       absl::StrCat("there is no node ", identity.node_name)};
    }
    if (!identity.node_uid.empty() && identity.node_uid != plan->uid) {
      return Rejection{RejectionReason::kUnknownNode,
                       absl::StrCat("the token is of an earlier node ", identity.node_name,
                                    " with UID ", identity.node_uid)};
    }
    number = ++last_number_;
    Slot& slot = slots_[identity.node_name];
    replaced = std::exchange(slot.session, session);
    slot.number = number;
    slot.node_uid = plan->uid;
    ended = ended_;
  }
  if (replaced != nullptr) {
    replaced->End({grpc::StatusCode::ABORTED, "a newer stream of this node took over"});
  }
  if (ended.has_value()) session->End(*ended);
  return number;
}

void AgentSessions::Close(absl::string_view node, uint64_t number) {
  std::shared_ptr<AgentSession> last;  // destroyed after the lock
  absl::MutexLock lock(&mutex_);
  const auto slot = slots_.find(node);
  if (slot == slots_.end() || slot->second.number != number) return;
  last = std::move(slot->second.session);
  slots_.erase(slot);
}

std::shared_ptr<const ServedSpec> AgentSessions::PlanFor(absl::string_view node) const {
  absl::MutexLock lock(&mutex_);
  const NodePlan* plan = world_ == nullptr ? nullptr : world_->FindNode(node);
  return plan == nullptr ? nullptr : plan->spec;
}

std::shared_ptr<const World> AgentSessions::world() const {
  absl::MutexLock lock(&mutex_);
  return world_;
}

void AgentSessions::EndAll(const grpc::Status& status) {
  std::vector<std::shared_ptr<AgentSession>> sessions;
  {
    absl::MutexLock lock(&mutex_);
    ended_ = status;
    for (const auto& [node, slot] : slots_) sessions.push_back(slot.session);
  }
  for (const auto& session : sessions) session->End(status);
}

}  // namespace reclaim::op
