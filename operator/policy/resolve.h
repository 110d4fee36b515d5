// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_RESOLVE_H_
#define RECLAIM_OPERATOR_POLICY_RESOLVE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kswapd/v1alpha1/agent.pb.h"
#include "operator/policy/policy.h"

namespace reclaim::op {

// What one node should run, and why. Pointers point into the policies given to Resolve.
struct Decision {
  enum class Kind {
    kNoPolicy,  // no policy selects the node: originals come back
    kServe,     // the winner's live spec
    kHold,      // the node keeps what it has: the content of the wanted revision is not at hand
  };
  Kind kind = Kind::kNoPolicy;
  const Policy* winner = nullptr;  // null only for kNoPolicy
  // Revision that the node should run.
  std::string revision;
  // OnlyMatch, HighestPriority or OlderWinsTie; a word of common/reasons.h.
  std::string reason;
  std::string message;
  // kHold: InvalidSpec, NotImplemented, Paused or RolloutPending.
  std::string hold_reason;
  // Losers with the winner's priority.
  std::vector<const Policy*> tied;
};

// Decides for one node. Pure: no clock, no I/O, no memory; every replica gets the same answer, and
// the order of `policies` does not matter.
//
// - Candidates are the policies that have been released (status.rollout.updateRevision is set) and
//   whose nodeSelector matches. A policy that was never released, because it is new, paused from
//   the start, not valid or asks for rollout steps, disturbs nobody.
// - The highest priority wins (absent: 0); among equals the older one, then the smaller name.
// - The node wants the winner's update_revision when its place (PlaceOf) is below the threshold,
//   and current_revision otherwise.
// - When that revision is the live spec's it is served. Otherwise the node keeps what it has
//   (docs/decisions/010): the spec is paused, not valid or asks for rollout
//   steps, or the release is about to be written.
Decision Resolve(absl::Span<const Policy> policies, const Node& node);

// The message for the agent. Call it for kNoPolicy and kServe only.
kswapd::v1alpha1::NodeSpec MakeNodeSpec(const Decision& decision);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_RESOLVE_H_
