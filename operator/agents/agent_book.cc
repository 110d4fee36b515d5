// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/agent_book.h"

#include <utility>

namespace reclaim::op {

AgentBook::AgentBook(Clock& clock, Changed changed, const AgentBookOptions& options)
    : clock_(clock), changed_(std::move(changed)), options_(options) {}

void AgentBook::AddNode(absl::string_view node) {
  {
    absl::MutexLock lock(&mutex_);
    State& state = nodes_[node];
    if (!state.connected) state.settled_at = clock_.Monotonic() + options_.first_connect_grace;
  }
  changed_(node, options_.first_connect_grace);
}

void AgentBook::RemoveNode(absl::string_view node) {
  absl::MutexLock lock(&mutex_);
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;
  if (it->second.connected) --connected_;
  nodes_.erase(it);
}

void AgentBook::Connect(absl::string_view node, uint64_t session) {
  {
    absl::MutexLock lock(&mutex_);
    State& state = nodes_[node];
    if (session < state.session) return;
    state.session = session;
    state.refusal.clear();
    if (!state.connected) ++connected_;
    state.connected = true;
  }
  changed_(node, absl::ZeroDuration());
}

bool AgentBook::Change(absl::string_view node, uint64_t session,
                       absl::FunctionRef<bool(State&)> change) {
  absl::MutexLock lock(&mutex_);
  const auto it = nodes_.find(node);
  return it != nodes_.end() && it->second.session == session && change(it->second);
}

void AgentBook::Report(absl::string_view node, uint64_t session,
                       kswapd::v1alpha1::NodeReclaimStatus status) {
  auto report = std::make_shared<const kswapd::v1alpha1::NodeReclaimStatus>(std::move(status));
  const bool changed = Change(node, session, [&](State& state) {
    state.report = std::move(report);
    return true;
  });
  if (changed) changed_(node, absl::ZeroDuration());
}

void AgentBook::SetRefusal(absl::string_view node, uint64_t session, absl::string_view refusal) {
  const bool changed = Change(node, session, [&](State& state) {
    if (state.refusal == refusal) return false;
    state.refusal = std::string(refusal);
    return true;
  });
  if (changed) changed_(node, absl::ZeroDuration());
}

void AgentBook::Disconnect(absl::string_view node, uint64_t session) {
  const bool changed = Change(node, session, [&](State& state) {
    mutex_.AssertHeld();
    if (!state.connected) return false;
    state.connected = false;
    state.settled_at = clock_.Monotonic() + options_.disconnect_grace;
    --connected_;
    return true;
  });
  if (changed) changed_(node, options_.disconnect_grace);
}

AgentBook::Entry AgentBook::Find(absl::string_view node) const {
  absl::MutexLock lock(&mutex_);
  Entry entry;
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) {
    entry.settles_in = options_.first_connect_grace;
    return entry;
  }
  const State& state = it->second;
  entry.observation.report = state.report;
  entry.observation.refusal = state.refusal;
  const absl::Duration left = state.settled_at - clock_.Monotonic();
  if (state.connected) {
    entry.observation.link = AgentObservation::Link::kConnected;
  } else if (left > absl::ZeroDuration()) {
    entry.settles_in = left;
  } else {
    entry.observation.link = AgentObservation::Link::kDisconnected;
  }
  return entry;
}

int AgentBook::connected() const {
  absl::MutexLock lock(&mutex_);
  return connected_;
}

}  // namespace reclaim::op
