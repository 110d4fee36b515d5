// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/status_builder.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/reasons.h"
#include "common/units.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using kswapd::v1alpha1::ReclaimPolicySpec;

constexpr char kWorkers[] = "kswapd.workers";

// A setting's or target's state in words.
struct Finding {
  std::string reason;
  std::string message;
};

struct Findings {
  std::vector<Finding> failed;       // Refused, Unreadable, Invalid, waiting Overridden
  std::vector<Finding> unsupported;  // the kernel lacks a file
  std::vector<Finding> clamped;
  std::vector<Finding> unimplemented;
  size_t in_force = 0;
  size_t idle = 0;  // targets without a cgroup
};

void Sort(const std::string& name, const std::string& word, const std::string& message,
          bool in_force, Findings& findings) {
  const Finding finding{word, absl::StrCat(name, ": ", message)};
  if (word == reason::kUnsupported) {
    findings.unsupported.push_back(finding);
  } else if (word == reason::kNotImplemented) {
    findings.unimplemented.push_back(finding);
  } else if (word == reason::kNoCgroupsMatched) {
    ++findings.idle;
  } else if (word == reason::kRefused || word == reason::kUnreadable || word == reason::kInvalid ||
             (word == reason::kOverridden && !in_force)) {
    findings.failed.push_back(finding);
  } else {
    if (word == reason::kClamped) findings.clamped.push_back(finding);
    ++findings.in_force;
  }
}

Findings SortAll(const StatusInput& input) {
  Findings findings;
  for (const SettingReport& setting : input.settings) {
    Sort(DescribeKey(setting.key), setting.reason, setting.message,
         setting.effective == setting.desired, findings);
  }
  for (const TargetReport& target : input.targets) {
    Sort(absl::StrCat("target ", target.name), target.reason, target.message, true, findings);
  }
  for (const std::string& field : input.unimplemented) {
    findings.unimplemented.push_back(
        {reason::kNotImplemented,
         absl::StrCat("spec.", field, ": this version does not apply it")});
  }
  return findings;
}

// The first of them, and how many more there are.
Finding Summarize(const std::vector<Finding>& findings) {
  Finding summary = findings.front();
  if (findings.size() > 1)
    absl::StrAppend(&summary.message, " (and ", findings.size() - 1, " more)");
  return summary;
}

void AddCondition(const char* type, const char* status, const Finding& finding,
                  NodeReclaimStatus& out) {
  kswapd::v1alpha1::Condition& condition = *out.add_conditions();
  condition.set_type(type);
  condition.set_status(status);
  condition.set_observed_generation(out.policy().generation());
  condition.set_reason(finding.reason);
  condition.set_message(finding.message);
}

void AddApplied(const StatusInput& input, const Findings& findings, NodeReclaimStatus& out) {
  std::string in_force =
      absl::StrCat(findings.in_force, findings.in_force == 1 ? " entry" : " entries", " in force");
  if (!findings.unsupported.empty()) {
    absl::StrAppend(&in_force, ", ", findings.unsupported.size(),
                    " that this kernel does not support");
  }
  if (findings.idle > 0) {
    absl::StrAppend(&in_force, ", ", findings.idle, " that no cgroup matches");
  }
  if (!input.spec_known) {
    AddCondition(condition::kApplied, "Unknown",
                 {reason::kSettingsPending, "no spec has come yet; nothing is changed"}, out);
  } else if (!findings.failed.empty()) {
    AddCondition(condition::kApplied, "False", Summarize(findings.failed), out);
  } else if (!input.spec.has_policy()) {
    AddCondition(condition::kApplied, "True", {reason::kNoPolicy, "no policy selects this node"},
                 out);
  } else if (input.spec.spec().mode() == ReclaimPolicySpec::Observe) {
    Finding observed{reason::kObserved, "mode is Observe: nothing is written"};
    if (!findings.unimplemented.empty()) {
      // A rehearsal must not promise what the performance will not give.
      const Finding missing = Summarize(findings.unimplemented);
      observed.reason = missing.reason;
      absl::StrAppend(&observed.message, ". In Enforce: ", missing.message);
    }
    AddCondition(condition::kApplied, "False", observed, out);
  } else if (input.spec.spec().paused()) {
    AddCondition(condition::kApplied, "False",
                 {reason::kPaused, "the policy is paused: nothing is written"}, out);
  } else if (!findings.unimplemented.empty()) {
    AddCondition(condition::kApplied, "False", Summarize(findings.unimplemented), out);
  } else if (!findings.clamped.empty()) {
    AddCondition(condition::kApplied, "True", Summarize(findings.clamped), out);
  } else {
    AddCondition(condition::kApplied, "True", {reason::kAllSettingsApplied, in_force}, out);
  }
}

void AddConditions(const StatusInput& input, NodeReclaimStatus& out) {
  const Findings findings = SortAll(input);
  AddApplied(input, findings, out);
  AddCondition(condition::kHealthy, "Unknown",
               {reason::kNoGates, "this version judges no rollout gates"}, out);
  if (!input.fault.empty()) {
    AddCondition(condition::kDegraded, "True", {reason::kUnreadable, input.fault}, out);
  } else if (!findings.failed.empty()) {
    AddCondition(condition::kDegraded, "True", Summarize(findings.failed), out);
  } else {
    AddCondition(condition::kDegraded, "False", {reason::kAsExpected, ""}, out);
  }
  if (findings.unsupported.empty()) {
    AddCondition(condition::kSupported, "True", {reason::kAllSupported, ""}, out);
  } else {
    AddCondition(condition::kSupported, "False", Summarize(findings.unsupported), out);
  }
}

std::string Text(const std::optional<int64_t>& value) {
  return value.has_value() ? absl::StrCat(*value) : "";
}

void AddSettings(const StatusInput& input, NodeReclaimStatus& out) {
  for (const SettingReport& report : input.settings) {
    kswapd::v1alpha1::SettingStatus& setting = *out.add_settings();
    setting.set_name(report.key.name);
    if (report.key.numa_node.has_value()) setting.set_numa_node(*report.key.numa_node);
    setting.set_desired(Text(report.desired));
    setting.set_effective(Text(report.effective));
    setting.set_original(Text(report.original));
    setting.set_reason(report.reason);
    setting.set_message(report.message);
  }
  for (const std::string& field : input.unimplemented) {
    kswapd::v1alpha1::SettingStatus& setting = *out.add_settings();
    setting.set_name(field);
    setting.set_reason(reason::kNotImplemented);
    setting.set_message("this version does not apply it");
  }
  for (const std::string& field : input.meaningless) {
    kswapd::v1alpha1::SettingStatus& setting = *out.add_settings();
    setting.set_name(field);
    setting.set_reason(reason::kNotImplemented);
    setting.set_message("has no meaning with --policy, which is about this node alone");
  }
}

// One number when all are equal, else one for each NUMA node; "-" where there is none.
std::string SummarizeWorkers(const std::map<int, std::optional<int64_t>>& by_numa_node) {
  std::vector<std::string> texts;
  texts.reserve(by_numa_node.size());
  for (const auto& [numa_node, workers] : by_numa_node) {
    texts.push_back(workers.has_value() ? absl::StrCat(*workers) : "-");
  }
  const std::set<std::string> distinct(texts.begin(), texts.end());
  if (distinct.empty() || distinct == std::set<std::string>{"-"}) return "";
  return distinct.size() == 1 ? texts.front() : absl::StrJoin(texts, ",");
}

void AddWorkers(const StatusInput& input, NodeReclaimStatus& out) {
  std::map<int, std::optional<int64_t>> desired;
  for (const auto& [numa_node, effective] : input.workers_effective) desired[numa_node];
  for (const SettingReport& report : input.settings) {
    if (report.key.name != kWorkers || !report.desired.has_value()) continue;
    if (report.key.numa_node.has_value()) {
      desired[*report.key.numa_node] = report.desired;
    } else {
      for (auto& [numa_node, value] : desired) value = report.desired;
    }
  }
  kswapd::v1alpha1::WorkersSummary workers;
  workers.set_desired(SummarizeWorkers(desired));
  workers.set_effective(SummarizeWorkers(input.workers_effective));
  if (workers.ByteSizeLong() > 0) *out.mutable_workers() = std::move(workers);
}

}  // namespace

NodeReclaimStatus BuildStatus(const StatusInput& input) {
  NodeReclaimStatus out;
  if (input.spec.has_policy()) *out.mutable_policy() = input.spec.policy();
  out.set_agent_version(input.agent_version);
  out.mutable_kernel()->set_release(input.features.kernel_release);
  for (const Feature& feature : input.features.features) {
    kswapd::v1alpha1::KernelFeature& status = *out.mutable_kernel()->add_features();
    status.set_name(feature.name);
    status.set_supported(feature.supported);
    status.set_path(feature.path);
  }
  AddWorkers(input, out);
  AddSettings(input, out);
  for (const TargetReport& report : input.targets) {
    kswapd::v1alpha1::TargetStatus& target = *out.add_targets();
    target.set_name(report.name);
    target.set_reason(report.reason);
    target.set_message(report.message);
    target.set_requested(FormatQuantity(report.requested_bytes));
    target.set_reclaimed(FormatQuantity(report.reclaimed_bytes));
  }
  AddConditions(input, out);
  return out;
}

}  // namespace reclaim::agent
