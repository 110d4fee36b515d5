// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_SETTING_APPLIER_H_
#define RECLAIM_NODE_AGENT_APPLY_SETTING_APPLIER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "node-agent/apply/retry_backoff.h"
#include "node-agent/apply/setting.h"
#include "node-agent/apply/setting_report.h"
#include "node-agent/apply/setting_restorer.h"
#include "node-agent/host/file_io.h"
#include "node-agent/state/journal.h"

namespace reclaim::agent {

// Brings the host's settings to what the spec wants, and keeps them there.
//
// For each setting: read; journal the original before the first write; write; read back; report.
// All settings of a round share one fsync before their writes and one after. A value that is
// neither what we wrote last nor what we want was written by someone else: counted, reported as
// Overridden and written again, with a back-off when it does not last. A setting that leaves the
// spec is handed to SettingRestorer. Nothing is restored when the process ends.
//
// Not thread-safe: called by the tick.
class SettingApplier {
 public:
  SettingApplier(const HostFiles& files, KernelWriter& writer, Journal& journal)
      : writer_(writer), journal_(journal), restorer_(files, writer, journal) {}

  struct Request {
    std::vector<DesiredSetting> desired;
    ApplyMode mode = ApplyMode::kEnforce;
    // Whether these settings get their originals back when they leave the spec (deletion: Restore).
    bool restore = true;
  };

  // One round. `now` is monotonic. A report for each desired setting, in order, then one for each
  // setting that has left the spec since the last NewSpec.
  std::vector<SettingReport> Apply(const Request& request, absl::Duration now);

  // The next Apply is for another spec: reports about settings that left are done with, and what
  // the kernel refused is tried again at once. A setting that gets another value is written at once
  // too, whatever was written over the old one.
  void NewSpec();

  // Of the last Save of the journal: not OK = originals of this round are not safe from a crash.
  const absl::Status& journal_status() const { return journal_status_; }

  // How long an Overridden that has been corrected stays reported.
  static constexpr absl::Duration kOverriddenShown = absl::Minutes(1);
  // Foreign writes further apart than this are corrected at once each time.
  static constexpr absl::Duration kQuiet = absl::Minutes(10);

 private:
  // What this process remembers of a setting beside the journal.
  struct Memory {
    std::optional<int64_t> desired;  // of the last round that enforced
    uint64_t overridden_total = 0;
    uint64_t write_errors_total = 0;
    std::optional<int64_t> uncorrected;        // foreign value, counted and still there
    int64_t foreign_value = 0;                 // last one seen
    std::optional<absl::Duration> foreign_at;  // seen, or corrected
    RetryBackoff correction;
    RetryBackoff refusal;
    std::string refusal_message;
  };
  struct Plan {
    const DesiredSetting* desired = nullptr;
    SettingReport report;
    bool write = false;
  };

  Plan Look(const DesiredSetting& desired, const Request& request, absl::Duration now);
  void LookEnforcing(int64_t current, bool restore, absl::Duration now, Plan& plan);
  void NoticeForeignWrite(int64_t current, absl::Duration now, Memory& memory);
  void Write(absl::Duration now, Plan& plan);
  void ReportInForce(absl::Duration now, Plan& plan);

  KernelWriter& writer_;
  Journal& journal_;
  SettingRestorer restorer_;
  absl::Status journal_status_;
  std::map<SettingKey, Memory> memory_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_SETTING_APPLIER_H_
