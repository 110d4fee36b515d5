// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_SETTING_REPORT_H_
#define RECLAIM_NODE_AGENT_APPLY_SETTING_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "node-agent/state/journal.h"

namespace reclaim::agent {

// What came of one setting in the last tick. The message changes only when something happens, never
// with the mere passing of time: a status that changes is sent.
struct SettingReport {
  SettingKey key;
  std::optional<int64_t> desired;    // absent: the setting has left the spec
  std::optional<int64_t> effective;  // absent: the kernel has no such file, or it cannot be read
  std::optional<int64_t> original;   // absent: never written
  std::string reason;                // common/reasons.h
  std::string message;
  uint64_t overridden_total = 0;    // foreign writes seen by this process
  uint64_t write_errors_total = 0;  // writes that the kernel refused
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_SETTING_REPORT_H_
