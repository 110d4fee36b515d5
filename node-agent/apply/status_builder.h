// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_STATUS_BUILDER_H_
#define RECLAIM_NODE_AGENT_APPLY_STATUS_BUILDER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kswapd/v1alpha1/agent.pb.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "node-agent/apply/setting.h"
#include "node-agent/apply/setting_report.h"
#include "node-agent/apply/target_report.h"
#include "node-agent/host/features.h"

namespace reclaim::agent {

// All that a status tells, from one tick.
struct StatusInput {
  bool spec_known = true;  // false: nobody has said yet what to run
  kswapd::v1alpha1::NodeSpec spec;
  HostFeatures features;
  std::vector<SettingReport> settings;
  std::vector<TargetReport> targets;
  std::vector<std::string> unimplemented;                   // FindUnimplemented of the spec
  std::vector<std::string> meaningless;                     // of FindAlone; empty in a cluster
  std::map<int, std::optional<int64_t>> workers_effective;  // by NUMA node with memory
  // What is wrong with the agent itself (its journal, its checkpoint); empty = nothing.
  std::string fault;
  std::string agent_version;
};

// The status of NodeReclaim, without the times and the Connected condition, which are the
// operator's.
//
//   Applied    True: everything that this kernel can do is in force (Clamped too: the kernel's word
//              is final, and the message has the numbers). False: Refused, Unreadable, Invalid, an
//              Overridden that waits for its correction, a field that is NotImplemented (in
//              mode Observe too), mode Observe, or paused. Unknown: no spec has come yet.
//   Supported  False: the kernel lacks a file that the spec needs; the message names it. (A target
//   that finds some of its
//              NUMA nodes goes on with them, and its own message names the others.)
//   Degraded   True: something needs a person: the kernel refuses, someone else keeps writing, the
//              agent cannot keep its own records.
//   Healthy    Unknown: this version judges no gates.
//
// Pure. Equal input gives equal bytes, so that only a change is sent.
kswapd::v1alpha1::NodeReclaimStatus BuildStatus(const StatusInput& input);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_STATUS_BUILDER_H_
