// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/setting_applier.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/reasons.h"

namespace reclaim::agent {
namespace {

void Report(const char* reason, std::string message, SettingReport& report) {
  report.reason = reason;
  report.message = std::move(message);
}

void ReportObserved(const DesiredSetting& desired, int64_t current, SettingReport& report) {
  Report(reason::kObserved,
         current == desired.value
             ? absl::StrCat("already ", current)
             : absl::StrCat("mode is Observe: ", desired.value, " would be written, ",
                            desired.setting.file.name, " is ", current),
         report);
}

}  // namespace

std::vector<SettingReport> SettingApplier::Apply(const Request& request, absl::Duration now) {
  std::vector<Plan> plans;
  std::set<SettingKey> wanted;
  bool any_write = false;
  for (const DesiredSetting& desired : request.desired) {
    plans.push_back(Look(desired, request, now));
    wanted.insert(desired.setting.key);
    any_write = any_write || plans.back().write;
  }

  // Originals are on disk before any value changes.
  if (any_write) journal_status_ = journal_.Save();
  for (Plan& plan : plans) {
    if (!plan.write) continue;
    if (journal_status_.ok()) {
      Write(now, plan);
    } else {
      Report(reason::kRefused,
             absl::StrCat("nothing was written, because the original value cannot be kept safe: ",
                          journal_status_.message()),
             plan.report);
    }
  }
  std::vector<SettingReport> left = restorer_.Restore(wanted, request.mode, now);
  if (!any_write || journal_status_.ok()) journal_status_ = journal_.Save();

  std::vector<SettingReport> reports;
  for (Plan& plan : plans) {
    const Memory& memory = memory_[plan.report.key];
    plan.report.overridden_total = memory.overridden_total;
    plan.report.write_errors_total = memory.write_errors_total;
    const JournalEntry* entry = journal_.Find(plan.report.key);
    if (entry != nullptr && !journal_.originals_lost()) plan.report.original = entry->original;
    reports.push_back(std::move(plan.report));
  }
  for (SettingReport& report : left) reports.push_back(std::move(report));
  return reports;
}

void SettingApplier::NewSpec() {
  for (auto& [key, memory] : memory_) memory.refusal.Reset();
  restorer_.NewSpec();
}

SettingApplier::Plan SettingApplier::Look(const DesiredSetting& desired, const Request& request,
                                          absl::Duration now) {
  Plan plan;
  plan.desired = &desired;
  plan.report.key = desired.setting.key;
  plan.report.desired = desired.value;
  // The spec's word for its end holds whatever becomes of the value in this round.
  if (JournalEntry* entry = journal_.Find(desired.setting.key)) entry->restore = request.restore;
  if (!desired.unsupported.empty()) {
    Report(reason::kUnsupported, desired.unsupported, plan.report);
    return plan;
  }
  const Setting& setting = desired.setting;
  const Maybe<int64_t> read = ReadInteger(setting.file);
  if (!read.ok()) {
    Report(reason::kUnreadable, std::string(read.status().message()), plan.report);
    return plan;
  }
  if (!read->has_value()) {
    Report(reason::kUnsupported, absl::StrCat("this kernel has no ", setting.file.name),
           plan.report);
    return plan;
  }
  const int64_t current = **read;
  plan.report.effective = current;
  JournalEntry* entry = journal_.Find(setting.key);
  if (entry != nullptr && entry->pending.has_value()) {
    // Announced and never confirmed: the value is ours, whichever it is.
    if (entry->effective.has_value() || current != entry->original) entry->effective = current;
    entry->requested.reset();
    entry->pending.reset();
  }
  if (desired.value < setting.min || desired.value > setting.max) {
    Report(reason::kInvalid,
           absl::StrCat("must be between ", setting.min, " and ", setting.max, "; got ",
                        desired.value),
           plan.report);
    return plan;
  }
  if (!desired.harmful.empty() && current != desired.value) {
    Report(reason::kInvalid, desired.harmful, plan.report);
    return plan;
  }
  switch (request.mode) {
    case ApplyMode::kObserve:
      ReportObserved(desired, current, plan.report);
      break;
    case ApplyMode::kPaused:
      Report(reason::kPaused, "the policy is paused; nothing is written", plan.report);
      break;
    case ApplyMode::kEnforce:
      LookEnforcing(current, request.restore, now, plan);
      break;
  }
  return plan;
}

void SettingApplier::LookEnforcing(int64_t current, bool restore, absl::Duration now, Plan& plan) {
  const int64_t value = plan.desired->value;
  const SettingKey& key = plan.report.key;
  Memory& memory = memory_[key];
  const bool new_value = std::exchange(memory.desired, value) != value;
  if (memory.refusal.Waiting(now)) {
    Report(reason::kRefused, memory.refusal_message, plan.report);
    return;
  }
  JournalEntry* entry = journal_.Find(key);
  if (entry == nullptr) {
    entry = &journal_.Put(key, {current, {}, {}, {}, restore});
    if (current == value) *entry = {current, value, current, {}, restore};
  }
  const bool confirmed = entry->effective.has_value();
  if (confirmed && entry->effective == current) {
    memory.uncorrected.reset();
    if (entry->requested == value) {
      ReportInForce(now, plan);
      return;
    }
  } else if (confirmed) {
    NoticeForeignWrite(current, now, memory);
  }

  // Foreign writes over another value say nothing about this one.
  if (new_value) memory.correction.Reset();
  if (memory.uncorrected.has_value() && memory.correction.Waiting(now)) {
    Report(reason::kOverridden,
           // Without the value and the count, which may change with every round: a status is
           // written for each change.
           absl::StrCat("someone else wrote to ", plan.desired->setting.file.name,
                        " again soon after it was corrected; it is written again with a back-off. "
                        "Find the other writer: sysctl.d, tuned or another agent."),
           plan.report);
    return;
  }
  // The announced value of a correction is the confirmed one: nothing new to make durable.
  if (entry->requested != value || !confirmed) entry->pending = value;
  plan.write = true;
}

void SettingApplier::NoticeForeignWrite(int64_t current, absl::Duration now, Memory& memory) {
  if (memory.uncorrected == current) return;
  memory.uncorrected = current;
  ++memory.overridden_total;
  if (memory.foreign_at.has_value() && now - *memory.foreign_at < kQuiet) {
    memory.correction.Failed(now);
  } else {
    memory.correction.Reset();
  }
  memory.foreign_value = current;
  memory.foreign_at = now;
}

void SettingApplier::Write(absl::Duration now, Plan& plan) {
  const Setting& setting = plan.desired->setting;
  const int64_t value = plan.desired->value;
  Memory& memory = memory_[setting.key];
  JournalEntry& entry = *journal_.Find(setting.key);

  const std::optional<int64_t> before = plan.report.effective;
  const int error = writer_.Write(setting.file, absl::StrCat(value));
  const Maybe<int64_t> read = ReadInteger(setting.file);
  if (read.ok() && read->has_value()) plan.report.effective = **read;
  if (error != 0) {
    ++memory.write_errors_total;
    memory.refusal.Failed(now);
    memory.refusal_message = absl::StrCat(
        DescribeKey(setting.key), ": wanted ", value, ", the kernel says ", ErrnoName(error), "; ",
        setting.file.name, " reads back ", plan.report.effective.value_or(0),
        ". It is tried again with a back-off, and at once when the spec changes.");
    Report(reason::kRefused, memory.refusal_message, plan.report);
    if (!read.ok() || !read->has_value()) {
      entry.pending = value;  // nobody knows: either value is ours
      return;
    }
    entry.pending.reset();
    if (before != **read) {
      // It failed halfway (kswapd_threads: some of the workers, then ENOMEM). Where it stopped is
      // ours, and is what nobody asked for.
      entry.requested.reset();
      entry.effective = **read;
    }
    if (!entry.effective.has_value()) journal_.Erase(setting.key);
    return;
  }
  if (!read.ok() || !read->has_value()) {
    // Still announced in the journal: the next round reads, and writes, again.
    Report(reason::kUnreadable,
           absl::StrCat("written, but it does not read back: ", read.status().message()),
           plan.report);
    return;
  }
  entry.requested = value;
  entry.effective = **read;
  entry.pending.reset();
  if (memory.uncorrected.has_value()) memory.foreign_at = now;  // shown from its correction on
  memory.uncorrected.reset();
  memory.refusal.Reset();
  ReportInForce(now, plan);
  const bool corrected = plan.report.reason == reason::kOverridden;
  Log(corrected ? LogLevel::kWarning : LogLevel::kInfo, "setting written",
      {{"setting", DescribeKey(setting.key)},
       {"value", value},
       {"effective", **read},
       {"original", journal_.originals_lost() ? "unknown" : absl::StrCat(entry.original)},
       {"reason", plan.report.reason}});
}

void SettingApplier::ReportInForce(absl::Duration now, Plan& plan) {
  const Setting& setting = plan.desired->setting;
  const int64_t value = plan.desired->value;
  const int64_t effective = plan.report.effective.value_or(0);
  const Memory& memory = memory_[setting.key];
  if (memory.foreign_at.has_value() && now - *memory.foreign_at < kOverriddenShown) {
    Report(
        reason::kOverridden,
        absl::StrCat("someone else wrote ", memory.foreign_value, "; ", value,
                     " was written again (foreign writes so far: ", memory.overridden_total, ")"),
        plan.report);
  } else if (effective != value) {
    Report(reason::kClamped,
           absl::StrCat(DescribeKey(setting.key), ": wanted ", value, ", the kernel took ",
                        effective, " (", setting.file.name, " reads back ", effective, ")"),
           plan.report);
  } else {
    Report(reason::kApplied, "", plan.report);
  }
}

}  // namespace reclaim::agent
