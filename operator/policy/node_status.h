// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_NODE_STATUS_H_
#define RECLAIM_OPERATOR_POLICY_NODE_STATUS_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"

namespace reclaim::op {

// What the operator knows of one node's agent right now.
struct AgentObservation {
  enum class Link {
    kUnsettled,  // not long enough away, or the operator not long enough up, to say so
    kConnected,
    kDisconnected,
  };
  Link link = Link::kUnsettled;
  // The last status reported on the present or last stream; null when none was since the operator
  // started.
  std::shared_ptr<const kswapd::v1alpha1::NodeReclaimStatus> report;
  // Why the agent refused the spec that it was sent last; empty when it did not.
  std::string refusal;
};

// The next NodeReclaim.status. Pure.
//
// From the report, or from `stored` while there is none, come policy, kernel, settings, targets and
// the conditions that belong to the agent (Applied, Healthy, Degraded, Supported; others are
// dropped). The operator adds Connected, says Applied=False (Refused) for a refused spec, and keeps
// the transition times. While the link is unsettled Connected stays as stored.
kswapd::v1alpha1::NodeReclaimStatus NextNodeStatus(
    const AgentObservation& observation, const kswapd::v1alpha1::NodeReclaimStatus& stored,
    absl::Time now);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_NODE_STATUS_H_
