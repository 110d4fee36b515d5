// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/setting_restorer.h"

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/reasons.h"

namespace reclaim::agent {

std::vector<SettingReport> SettingRestorer::Restore(const std::set<SettingKey>& wanted,
                                                    ApplyMode mode, absl::Duration now) {
  for (const SettingKey& key : wanted) left_.erase(key);
  // A copy: what is done leaves the journal.
  const std::map<SettingKey, JournalEntry> entries = journal_.entries();
  for (const auto& [key, entry] : entries) {
    if (wanted.contains(key)) continue;
    if (backoff_[key].Waiting(now)) continue;
    bool done = false;
    SettingReport report = TakeBack(key, entry, mode, now, done);
    report.key = key;
    if (!journal_.originals_lost()) report.original = entry.original;
    if (done) {
      LogInfo("setting left the spec",
              {{"setting", DescribeKey(key)},
               {"reason", report.reason},
               {"original", journal_.originals_lost() ? "unknown" : absl::StrCat(entry.original)},
               {"effective", report.effective.value_or(-1)}});
      journal_.Erase(key);
      backoff_.erase(key);
    }
    left_[key] = std::move(report);
  }
  std::vector<SettingReport> reports;
  for (const auto& [key, report] : left_) reports.push_back(report);
  return reports;
}

void SettingRestorer::NewSpec() {
  left_.clear();
  backoff_.clear();
}

SettingReport SettingRestorer::TakeBack(const SettingKey& key, const JournalEntry& entry,
                                        ApplyMode mode, absl::Duration now, bool& done) {
  SettingReport report;
  const auto say = [&report](const char* reason, std::string message) {
    report.reason = reason;
    report.message = std::move(message);
    return report;
  };
  const std::optional<Setting> setting = FindSetting(key, files_);
  if (!setting.has_value()) {
    done = true;
    return say(reason::kKept, "this version of the agent does not know the setting");
  }
  const Maybe<int64_t> read = ReadInteger(setting->file);
  if (!read.ok()) return say(reason::kUnreadable, std::string(read.status().message()));
  if (!read->has_value()) {
    done = true;
    // Gone with what the kernel kept there; should it come back, it begins anew.
    return say(reason::kKept, absl::StrCat("the kernel has no ", setting->file.name,
                                           " any more; there is nothing to restore"));
  }
  const int64_t current = **read;
  report.effective = current;

  if (journal_.originals_lost()) {
    done = mode == ApplyMode::kEnforce;
    return say(reason::kKept,
               absl::StrCat(current,
                            " stays, because the journal with the original value was damaged; "
                            "the kernel has its own value again after a reboot"));
  }
  if (mode != ApplyMode::kEnforce) {
    return say(mode == ApplyMode::kObserve ? reason::kObserved : reason::kPaused,
               absl::StrCat("left the spec; ", entry.original, " would be written back"));
  }
  done = true;
  if (!entry.restore) {
    return say(reason::kKept,
               absl::StrCat("the policy says deletion: Keep; the original was ", entry.original));
  }
  if (current == entry.original) return say(reason::kRestored, "");
  // Announced and not confirmed: the agent died between the two, and the value is ours.
  const bool ours = entry.pending.has_value() || entry.effective == current;
  if (!ours) {
    return say(reason::kKept, absl::StrCat("someone else wrote ", current,
                                           " since; the original was ", entry.original));
  }
  if (const int error = writer_.Write(setting->file, absl::StrCat(entry.original)); error != 0) {
    done = false;
    backoff_[key].Failed(now);
    // It may have failed halfway; where it stopped is as much ours as what it began from.
    if (const Maybe<int64_t> stopped = ReadInteger(setting->file);
        stopped.ok() && stopped->has_value()) {
      report.effective = **stopped;
      JournalEntry& ours_still = *journal_.Find(key);
      ours_still.requested.reset();
      ours_still.effective = **stopped;
      ours_still.pending.reset();
    }
    return say(reason::kRefused,
               absl::StrCat(DescribeKey(key), ": the original ", entry.original,
                            " cannot be written back, the kernel says ", ErrnoName(error),
                            "; it is tried again with a back-off"));
  }
  const Maybe<int64_t> after = ReadInteger(setting->file);
  if (after.ok() && after->has_value()) report.effective = **after;
  if (report.effective != entry.original) {
    return say(reason::kClamped, absl::StrCat("the original was ", entry.original,
                                              ", the kernel took ", *report.effective));
  }
  return say(reason::kRestored, "");
}

}  // namespace reclaim::agent
