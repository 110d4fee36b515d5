// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_POLICY_STATUS_H_
#define RECLAIM_OPERATOR_POLICY_POLICY_STATUS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "kswapd/v1alpha1/policy.pb.h"
#include "operator/policy/policy.h"

namespace reclaim::op {

// One node on which a policy is in force.
struct NodeView {
  std::string name;
  // NodeReclaim.status as stored; null when the node has none yet.
  std::shared_ptr<const kswapd::v1alpha1::NodeReclaimStatus> status;
};

// What the status of a policy is made of.
struct PolicyObservation {
  std::vector<NodeView> nodes;
  // Policies with the same priority, and the number of nodes that both select.
  std::map<std::string, int> tied;
};

// Counts of nodes. A node counts as `updated` when it reports the wanted revision of this policy;
// `applied` and `healthy` are counted among those, the other states among all.
kswapd::v1alpha1::NodeCounts CountNodes(const Policy& policy, const PolicyObservation& observation);

// The whole next status of a policy: counts, at most 10 worst nodes (the gravest first, then by
// name), the rollout's next step and the conditions. Pure; `now` is only used for what changes, so
// the same input gives a status that SaysTheSame.
//
// Ready        every node on which the policy is in force runs its spec
// Progressing  nodes are on their way to it
// Stalled      it will not get further without the admin: the spec is not valid or asks for what
// this
//              version does not apply, or nodes could not apply it
// Conflicted   another policy selects the same nodes with the same priority
kswapd::v1alpha1::ReclaimPolicyStatus NextPolicyStatus(const Policy& policy,
                                                       const PolicyObservation& observation,
                                                       absl::Time now);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_POLICY_STATUS_H_
