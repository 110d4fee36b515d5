// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_TARGET_REPORT_H_
#define RECLAIM_NODE_AGENT_APPLY_TARGET_REPORT_H_

#include <cstdint>
#include <string>

namespace reclaim::agent {

// What one proactive target has done since it, or the agent, started. Counters go on when the spec
// changes and the target keeps its name.
struct TargetReport {
  std::string name;
  std::string reason;  // common/reasons.h
  std::string message;
  int64_t requested_bytes = 0;
  int64_t reclaimed_bytes = 0;
  uint64_t eagain_total = 0;  // the kernel could not reclaim all that was asked
  uint64_t errors_total = 0;  // any other errno
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_TARGET_REPORT_H_
