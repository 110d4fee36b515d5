// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_SETTING_RESTORER_H_
#define RECLAIM_NODE_AGENT_APPLY_SETTING_RESTORER_H_

#include <map>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "node-agent/apply/retry_backoff.h"
#include "node-agent/apply/setting.h"
#include "node-agent/apply/setting_report.h"
#include "node-agent/host/file_io.h"
#include "node-agent/state/journal.h"

namespace reclaim::agent {

// How the settings of a spec are to be treated.
enum class ApplyMode {
  kEnforce,
  kObserve,  // say what would be written; write nothing
  kPaused,   // leave everything as it is
};

// Gives settings that have left the spec their original values back, once, out of the journal.
//
// Not for a value that someone else has written since, nor for one whose policy said
// `deletion: Keep`: those are reported as Kept. The caller saves the journal.
//
// Not thread-safe.
class SettingRestorer {
 public:
  SettingRestorer(const HostFiles& files, KernelWriter& writer, Journal& journal)
      : files_(files), writer_(writer), journal_(journal) {}

  // Treats each journalled setting that is not in `wanted`. Returns what came of all that have left
  // since the last NewSpec; what the kernel refuses stays in the journal and is tried again.
  std::vector<SettingReport> Restore(const std::set<SettingKey>& wanted, ApplyMode mode,
                                     absl::Duration now);

  void NewSpec();

 private:
  SettingReport TakeBack(const SettingKey& key, const JournalEntry& entry, ApplyMode mode,
                         absl::Duration now, bool& done);

  const HostFiles& files_;
  KernelWriter& writer_;
  Journal& journal_;
  std::map<SettingKey, SettingReport> left_;
  std::map<SettingKey, RetryBackoff> backoff_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_SETTING_RESTORER_H_
