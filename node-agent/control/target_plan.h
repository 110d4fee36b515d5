// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_CONTROL_TARGET_PLAN_H_
#define RECLAIM_NODE_AGENT_CONTROL_TARGET_PLAN_H_

#include <string>
#include <vector>

#include "common/units.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::agent {

// A proactive target that this version can run: a rate over NUMA nodes or cgroups.
struct TargetPlan {
  std::string name;
  std::vector<int> numa_nodes;               // exactly one of the two
  std::vector<std::string> cgroup_patterns;  // is not empty
  Rate rate;
  std::string rate_text;   // as in the spec
  std::string swappiness;  // "0" … "200", "max", or empty for the kernel's

  // Set: the target does not run; a word of common/reasons.h and why.
  std::string refusal_reason;
  std::string refusal_message;
};

// Pure. `unimplemented` are the fields of the target that this version does not apply: any of them
// keeps the target from running, because a limit that is not kept is worse than a target that is
// not run.
TargetPlan PlanTarget(const kswapd::v1alpha1::ProactiveReclaimTarget& target,
                      const std::vector<std::string>& unimplemented);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_CONTROL_TARGET_PLAN_H_
