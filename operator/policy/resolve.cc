// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/resolve.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/reasons.h"
#include "operator/policy/content_hash.h"
#include "operator/policy/rollout.h"
#include "operator/policy/selector.h"

namespace reclaim::op {
namespace {

bool Wins(const Policy* a, const Policy* b) {
  if (a->spec.priority() != b->spec.priority()) return a->spec.priority() > b->spec.priority();
  if (a->created != b->created) return a->created < b->created;
  return a->name < b->name;
}

std::vector<const Policy*> Candidates(absl::Span<const Policy> policies, const Node& node) {
  std::vector<const Policy*> candidates;
  for (const Policy& policy : policies) {
    if (policy.status.rollout().update_revision().empty()) continue;
    if (Matches(policy.spec.node_selector(), node.labels)) candidates.push_back(&policy);
  }
  std::sort(candidates.begin(), candidates.end(), Wins);
  return candidates;
}

void ExplainWinner(absl::Span<const Policy* const> losers, Decision& decision) {
  const int priority = decision.winner->spec.priority();
  if (losers.empty()) {
    decision.reason = reason::kOnlyMatch;
    return;
  }
  for (const Policy* loser : losers) {
    if (loser->spec.priority() == priority) decision.tied.push_back(loser);
  }
  if (decision.tied.empty()) {
    decision.reason = reason::kHighestPriority;
    decision.message = absl::StrCat("priority ", priority, "; next is ", losers[0]->name, " with ",
                                    losers[0]->spec.priority());
    return;
  }
  decision.reason = reason::kOlderWinsTie;
  decision.message = absl::StrCat(
      "priority ", priority, " is also that of ",
      absl::StrJoin(decision.tied, ", ",
                    [](std::string* out, const Policy* policy) { out->append(policy->name); }),
      "; the older policy wins");
}

}  // namespace

Decision Resolve(absl::Span<const Policy> policies, const Node& node) {
  const std::vector<const Policy*> candidates = Candidates(policies, node);
  Decision decision;
  if (candidates.empty()) return decision;
  decision.winner = candidates[0];
  const Policy& winner = *candidates[0];
  ExplainWinner(absl::MakeConstSpan(candidates).subspan(1), decision);

  const auto& rollout = winner.status.rollout();
  const bool updated = PlaceOf(winner.uid, node.uid) < rollout.threshold();
  decision.revision = updated ? rollout.update_revision() : rollout.current_revision();
  if (decision.revision == winner.revision && winner.invalid.empty()) {
    decision.kind = Decision::Kind::kServe;
  } else {
    decision.kind = Decision::Kind::kHold;
    const char* why = WhyNotReleased(winner);
    decision.hold_reason = why == nullptr ? reason::kRolloutPending : why;
  }
  return decision;
}

kswapd::v1alpha1::NodeSpec MakeNodeSpec(const Decision& decision) {
  kswapd::v1alpha1::NodeSpec node_spec;
  if (decision.kind == Decision::Kind::kNoPolicy) return node_spec;
  auto& policy = *node_spec.mutable_policy();
  policy.set_name(decision.winner->name);
  policy.set_uid(decision.winner->uid);
  policy.set_generation(decision.winner->generation);
  policy.set_revision(decision.revision);
  policy.set_reason(decision.reason);
  policy.set_message(decision.message);
  *node_spec.mutable_spec() = NodePart(decision.winner->spec);
  return node_spec;
}

}  // namespace reclaim::op
