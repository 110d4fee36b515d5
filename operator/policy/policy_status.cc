// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/policy_status.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/reasons.h"
#include "operator/policy/conditions.h"
#include "operator/policy/rollout.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::Condition;
using kswapd::v1alpha1::NodeCounts;
using kswapd::v1alpha1::NodeReclaimStatus;
using kswapd::v1alpha1::ReclaimPolicyStatus;
using kswapd::v1alpha1::Rollout;

constexpr size_t kMaxWorst = 10;
constexpr size_t kMaxWorstMessageBytes = 256;

// The agent reports on this policy's released revision.
bool IsUpdated(const Policy& policy, const NodeReclaimStatus& status) {
  return status.policy().uid() == policy.uid &&
         status.policy().revision() == policy.status.rollout().update_revision();
}

struct Trouble {
  int rank;  // 0 is the gravest
  const Condition* condition;
};

// The gravest thing that a node reports, if any. Neither waiting for a value to be written nor
// Observe is one.
std::optional<Trouble> GravestTrouble(const NodeReclaimStatus& status) {
  struct Rule {
    const char* type;
    const char* bad;
  };
  static constexpr Rule kRules[] = {{condition::kApplied, "False"},
                                    {condition::kDegraded, "True"},
                                    {condition::kHealthy, "False"},
                                    {condition::kConnected, "False"},
                                    {condition::kSupported, "False"}};
  int rank = 0;
  for (const Rule& rule : kRules) {
    const Condition* condition = FindCondition(status.conditions(), rule.type);
    if (condition != nullptr && condition->status() == rule.bad &&
        condition->reason() != reason::kSettingsPending &&
        condition->reason() != reason::kObserved && condition->reason() != reason::kNoPolicy) {
      // What the kernel does not have is the mildest, whichever condition says so.
      const bool mild = condition->reason() == reason::kUnsupported;
      return Trouble{mild ? static_cast<int>(std::size(kRules)) : rank, condition};
    }
    ++rank;
  }
  return std::nullopt;
}

void ListWorst(const PolicyObservation& observation, ReclaimPolicyStatus& status) {
  std::vector<std::tuple<int, absl::string_view, const Condition*>> troubles;
  for (const NodeView& node : observation.nodes) {
    if (node.status == nullptr) continue;
    if (const auto trouble = GravestTrouble(*node.status)) {
      troubles.emplace_back(trouble->rank, node.name, trouble->condition);
    }
  }
  const size_t kept = std::min(troubles.size(), kMaxWorst);
  std::partial_sort(troubles.begin(), troubles.begin() + static_cast<ptrdiff_t>(kept),
                    troubles.end());
  for (size_t i = 0; i < kept; ++i) {
    const auto& [rank, name, condition] = troubles[i];
    auto& worst = *status.add_worst();
    worst.set_node(std::string(name));
    worst.set_reason(condition->reason());
    worst.set_message(Shorten(condition->message(), kMaxWorstMessageBytes));
  }
}

// Nodes that have tried and could not, by the reason of Applied=False. An agent that refuses the
// spec as a whole goes on reporting the old revision; all others count once they have the new one.
std::map<std::string, int> CountFailed(const Policy& policy, const PolicyObservation& observation) {
  std::map<std::string, int> failed;
  for (const NodeView& node : observation.nodes) {
    if (node.status == nullptr) continue;
    const Condition* applied = FindCondition(node.status->conditions(), condition::kApplied);
    if (applied == nullptr || applied->status() != "False") continue;
    const std::string& why = applied->reason();
    if (why == reason::kSettingsPending || why == reason::kNoPolicy || why == reason::kObserved) {
      continue;
    }
    if (why == reason::kRefused || IsUpdated(policy, *node.status)) ++failed[why];
  }
  return failed;
}

// Nodes that do what mode Observe asks of them.
int CountObserving(const Policy& policy, const PolicyObservation& observation) {
  return static_cast<int>(
      std::count_if(observation.nodes.begin(), observation.nodes.end(), [&](const NodeView& node) {
        if (node.status == nullptr || !IsUpdated(policy, *node.status)) return false;
        const Condition* applied = FindCondition(node.status->conditions(), condition::kApplied);
        return applied != nullptr && applied->reason() == reason::kObserved;
      }));
}

std::string Progress(const NodeCounts& counts) {
  std::string text = absl::StrCat(counts.applied(), " of ", counts.matched(), " nodes applied");
  const std::pair<int, const char*> rest[] = {
      {counts.matched() - counts.updated(), "not updated yet"},
      {counts.unsupported(), "without full kernel support"},
      {counts.degraded(), "degraded"},
      {counts.disconnected(), "disconnected"}};
  for (const auto& [count, what] : rest) {
    if (count > 0) absl::StrAppend(&text, ", ", count, " ", what);
  }
  return text;
}

// Why a policy makes no progress, or null.
struct Standstill {
  std::string reason;
  std::string message;
  bool stalled;  // only the admin can end it
};

// What of spec.rollout this version does not apply. `onFailure: Rollback` is not said: the CRD
// fills it in, so the admin may not have written it.
std::string StepFields(bool has_pause) {
  return has_pause ? "spec.rollout.steps and spec.rollout.onFailure are" : "spec.rollout.steps is";
}

std::optional<Standstill> FindStandstill(const Policy& policy,
                                         const PolicyObservation& observation) {
  if (!policy.invalid.empty()) {
    return Standstill{
        reason::kInvalidSpec,
        absl::StrCat("the spec is not applied and nodes keep what they have: ", policy.invalid),
        true};
  }
  const bool released = policy.revision == policy.status.rollout().update_revision();
  const bool has_steps = policy.spec.rollout().steps_size() > 0;
  const bool has_pause = policy.spec.rollout().on_failure() == Rollout::Pause;
  if (has_steps && !released) {
    return Standstill{
        reason::kNotImplemented,
        absl::StrCat(StepFields(has_pause),
                     " not applied by this version, which gives a change to all "
                     "matching nodes at once; so the changed spec is not released and "
                     "nodes keep what they have. To release it to all of them at "
                     "once, remove spec.rollout.steps"),
        true};
  }
  if (const auto failed = CountFailed(policy, observation); !failed.empty()) {
    const auto refused = failed.find(reason::kRefused);
    const auto& [why, count] = refused != failed.end() ? *refused : *failed.begin();
    return Standstill{why,
                      absl::StrCat(count, " of ", observation.nodes.size(), " nodes say ", why,
                                   "; see status.worst"),
                      true};
  }
  if (policy.spec.paused() && !released) {
    return Standstill{reason::kPaused,
                      "spec.paused is true: the changed spec is not released and nodes keep what "
                      "they have",
                      false};
  }
  if (has_steps) {
    return Standstill{reason::kNotImplemented,
                      absl::StrCat(StepFields(has_pause),
                                   " not applied by this version: nodes have this spec, and the "
                                   "next change of it will be held until spec.rollout.steps is "
                                   "removed; then it goes to all matching nodes at once"),
                      true};
  }
  if (has_pause) {
    return Standstill{reason::kNotImplemented,
                      "spec.rollout.onFailure is not applied by this version, which judges no "
                      "gates: a change goes to all matching nodes at once and nothing pauses it. "
                      "Remove spec.rollout.onFailure",
                      true};
  }
  return std::nullopt;
}

void AddConditions(const Policy& policy, const PolicyObservation& observation,
                   ReclaimPolicyStatus& status) {
  Conditions& conditions = *status.mutable_conditions();
  const NodeCounts& counts = status.nodes();
  const bool released = policy.revision == policy.status.rollout().update_revision();
  const int observing = CountObserving(policy, observation);
  const bool complete = released && counts.applied() + observing == counts.matched();
  const std::optional<Standstill> standstill = FindStandstill(policy, observation);

  std::string why = reason::kNodesProgressing;
  std::string message = Progress(counts);
  if (standstill) {
    why = standstill->reason;
    message = standstill->message;
  } else if (!released) {
    why = reason::kRolloutPending;
    message = "the spec is about to be released";
  } else if (complete && counts.matched() == 0) {
    why = reason::kNoNodesMatched;
    message = "the policy is in force on no node";
  } else if (complete && observing > 0) {
    why = reason::kObserved;
    message = absl::StrCat("mode is Observe: ", observing, " of ", counts.matched(),
                           " nodes report what they would do, and write nothing");
  } else if (complete) {
    why = reason::kAllNodesApplied;
  }
  const bool ready = complete && !standstill;
  AddCondition(conditions, condition::kReady, ready ? "True" : "False", why, message);
  AddCondition(conditions, condition::kProgressing, ready || standstill ? "False" : "True", why,
               message);
  if (standstill && standstill->stalled) {
    AddCondition(conditions, condition::kStalled, "True", why, message);
  } else {
    AddCondition(conditions, condition::kStalled, "False", reason::kAsExpected,
                 "nothing stands in the way");
  }
  if (observation.tied.empty()) {
    AddCondition(conditions, condition::kConflicted, "False", reason::kNoConflict,
                 "no other policy with this priority selects the same nodes");
  } else {
    AddCondition(conditions, condition::kConflicted, "True", reason::kPrioritiesTie,
                 absl::StrCat("priority ", policy.spec.priority(), " is also that of ",
                              absl::StrJoin(observation.tied, ", ",
                                            [](std::string* out, const auto& other) {
                                              absl::StrAppend(
                                                  out, other.first, " (", other.second,
                                                  other.second == 1 ? " node)" : " nodes)");
                                            }),
                              "; the older policy wins. Give one of them another spec.priority"));
  }
  for (Condition& condition : conditions) condition.set_observed_generation(policy.generation);
}

}  // namespace

NodeCounts CountNodes(const Policy& policy, const PolicyObservation& observation) {
  NodeCounts counts;
  counts.set_matched(static_cast<int>(observation.nodes.size()));
  for (const NodeView& node : observation.nodes) {
    if (node.status == nullptr) {
      counts.set_disconnected(counts.disconnected() + 1);
      continue;
    }
    const Conditions& conditions = node.status->conditions();
    if (IsUpdated(policy, *node.status)) {
      counts.set_updated(counts.updated() + 1);
      if (HasStatus(conditions, condition::kApplied, "True")) {
        counts.set_applied(counts.applied() + 1);
      }
      if (HasStatus(conditions, condition::kHealthy, "True")) {
        counts.set_healthy(counts.healthy() + 1);
      }
    }
    if (HasStatus(conditions, condition::kSupported, "False")) {
      counts.set_unsupported(counts.unsupported() + 1);
    }
    if (HasStatus(conditions, condition::kDegraded, "True")) {
      counts.set_degraded(counts.degraded() + 1);
    }
    if (!HasStatus(conditions, condition::kConnected, "True")) {
      counts.set_disconnected(counts.disconnected() + 1);
    }
  }
  return counts;
}

ReclaimPolicyStatus NextPolicyStatus(const Policy& policy, const PolicyObservation& observation,
                                     absl::Time now) {
  ReclaimPolicyStatus status;
  status.set_observed_generation(policy.generation);
  *status.mutable_nodes() = CountNodes(policy, observation);
  *status.mutable_rollout() = NextRollout(policy, status.nodes(), now);
  if (status.rollout().ByteSizeLong() == 0) status.clear_rollout();
  ListWorst(observation, status);
  AddConditions(policy, observation, status);
  SetTransitionTimes(policy.status.conditions(), now, *status.mutable_conditions());
  return status;
}

}  // namespace reclaim::op
