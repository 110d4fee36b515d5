// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/node_status.h"

#include "absl/strings/str_cat.h"
#include "common/reasons.h"
#include "operator/policy/conditions.h"
#include "operator/policy/empty_messages.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::Condition;
using kswapd::v1alpha1::NodeReclaimStatus;

constexpr const char* kAgentConditions[] = {condition::kApplied, condition::kHealthy,
                                            condition::kDegraded, condition::kSupported};

void AddConnected(AgentObservation::Link link, const NodeReclaimStatus& stored,
                  Conditions& conditions) {
  switch (link) {
    case AgentObservation::Link::kConnected:
      AddCondition(conditions, condition::kConnected, "True", reason::kAgentConnected,
                   "the node's agent has a stream to the operator");
      return;
    case AgentObservation::Link::kDisconnected:
      AddCondition(
          conditions, condition::kConnected, "False", reason::kAgentDisconnected,
          "the node's agent has no stream to the operator; what it applied stays, and this "
          "status is the last one known");
      return;
    case AgentObservation::Link::kUnsettled:
      const Condition* before = FindCondition(stored.conditions(), condition::kConnected);
      if (before != nullptr) *conditions.Add() = *before;
      return;
  }
}

// An empty part is stored as an absent one, so it would look changed for ever. And server-side
// apply of `{}` over a part that had fields of ours leaves null, which the schema refuses.
void DropEmptyParts(NodeReclaimStatus& status) {
  if (status.policy().ByteSizeLong() == 0) status.clear_policy();
  if (status.kernel().ByteSizeLong() == 0) status.clear_kernel();
  if (status.workers().ByteSizeLong() == 0) status.clear_workers();
}

}  // namespace

NodeReclaimStatus NextNodeStatus(const AgentObservation& observation,
                                 const NodeReclaimStatus& stored, absl::Time now) {
  const NodeReclaimStatus& base = observation.report != nullptr ? *observation.report : stored;
  NodeReclaimStatus next = base;
  DropEmptyParts(next);
  next.clear_conditions();
  Conditions& conditions = *next.mutable_conditions();
  for (const char* type : kAgentConditions) {
    if (type == absl::string_view(condition::kApplied) && !observation.refusal.empty()) {
      AddCondition(conditions, type, "False", reason::kRefused,
                   absl::StrCat("the agent refused the spec and keeps the last good one: ",
                                observation.refusal));
    } else if (const Condition* reported = FindCondition(base.conditions(), type)) {
      AddCondition(conditions, type, reported->status(), reported->reason(), reported->message())
          .set_observed_generation(reported->observed_generation());
    }
  }
  AddConnected(observation.link, stored, conditions);
  SetTransitionTimes(stored.conditions(), now, conditions);
  ClearEmptyMessages(next);
  return next;
}

}  // namespace reclaim::op
