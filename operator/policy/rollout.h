// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_ROLLOUT_H_
#define RECLAIM_OPERATOR_POLICY_ROLLOUT_H_

#include "absl/time/time.h"
#include "kswapd/v1alpha1/policy.pb.h"
#include "operator/policy/policy.h"

namespace reclaim::op {

// Why a changed spec of this policy is not released: InvalidSpec, NotImplemented or Paused, a word
// of common/reasons.h. nullptr: it is. Pure.
//
// NotImplemented: spec.rollout.steps asks for a canary and this version has no steps. An admin who
// relies on one must not find the change on every node, so it is held (docs/decisions/010).
const char* WhyNotReleased(const Policy& policy);

// The next status.rollout of a policy. Pure.
//
// This version has one step, the whole fleet: a new revision gets the threshold kWholeFleet at
// once, and becomes the current revision when every matched node runs it. A paused policy, and one
// whose spec is not valid, stays where it is; one with steps keeps the revision that it has.
//   counts  of the nodes on which the policy is in force
//   now     becomes `since` when a step begins
kswapd::v1alpha1::RolloutStatus NextRollout(const Policy& policy,
                                            const kswapd::v1alpha1::NodeCounts& counts,
                                            absl::Time now);

// RFC 3339 in UTC with whole seconds, as metav1.Time.
std::string FormatTimestamp(absl::Time time);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_ROLLOUT_H_
