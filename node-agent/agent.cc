// SPDX-License-Identifier: Apache-2.0
#include "node-agent/agent.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/process_metrics.h"
#include "node-agent/apply/not_implemented.h"
#include "node-agent/apply/status_builder.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::NodeSpec;
using kswapd::v1alpha1::ReclaimPolicySpec;

ApplyMode ModeOf(const NodeSpec& spec) {
  if (!spec.has_policy()) return ApplyMode::kEnforce;  // to restore what is left
  if (spec.spec().paused()) return ApplyMode::kPaused;
  if (spec.spec().mode() == ReclaimPolicySpec::Observe) return ApplyMode::kObserve;
  return ApplyMode::kEnforce;
}

std::vector<TargetPlan> PlanTargets(const NodeSpec& spec) {
  std::vector<TargetPlan> plans;
  if (!spec.has_policy()) return plans;
  for (const auto& target : spec.spec().proactive_reclaim()) {
    plans.push_back(PlanTarget(target, FindUnimplemented(target, TargetFields())));
  }
  return plans;
}

std::string NameOf(const NodeSpec& spec) {
  return spec.has_policy() ? spec.policy().name() : "none";
}

}  // namespace

Agent::Agent(Parts parts)
    : parts_(std::move(parts)),
      applier_(parts_.files, parts_.writer, parts_.journal),
      snapshots_(parts_.files, parts_.clock),
      last_tick_(parts_.clock.Monotonic()) {
  if (parts_.checkpoint == nullptr) return;
  absl::StatusOr<std::optional<SpecUpdate>> last = parts_.checkpoint->Load();
  if (!last.ok()) {
    // Values stay as they are until the operator speaks.
    source_fault_ = std::string(last.status().message());
    LogError("checkpoint not usable", {{"error", source_fault_}});
  } else if (last->has_value() && parts_.journal.interrupted()) {
    // A value that brings the machine down would do so after each boot, and no operator could take
    // it back.
    source_fault_ =
        "the machine went down while a setting was being written; the spec of then is not applied "
        "before the operator sends it again";
    LogWarning("checkpoint not applied", {{"why", source_fault_}});
  } else if (last->has_value()) {
    Adopt(*std::move(*last), /*store=*/false);
  }
}

void Agent::Offer(SpecUpdate update) {
  absl::MutexLock lock(&mutex_);
  offered_ = std::move(update);
}

void Agent::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Agent::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Agent::Run() {
  while (true) {
    Tick();
    absl::MutexLock lock(&mutex_);
    const auto woken = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopping_ || offered_.has_value();
    };
    mutex_.AwaitWithTimeout(absl::Condition(&woken), parts_.tick);
    if (stopping_) return;
  }
}

void Agent::TakeSpec() {
  if (parts_.policy_file != nullptr) {
    if (std::optional<absl::StatusOr<SpecUpdate>> update = parts_.policy_file->Poll()) {
      if (update->ok()) {
        source_fault_.clear();
        Adopt(**std::move(update), /*store=*/false);
      } else {
        ++policy_file_errors_total_;
        source_fault_ =
            absl::StrCat(update->status().message(), "; the last good policy stays in force");
        LogError("policy file not usable", {{"error", update->status().message()}});
      }
    }
  }
  std::optional<SpecUpdate> offered;
  {
    absl::MutexLock lock(&mutex_);
    offered.swap(offered_);
  }
  // A reconnect may bring what is in force already.
  const bool in_force = offered.has_value() && !offered->version.empty() && current_.has_value() &&
                        offered->version == current_->version;
  if (offered.has_value() && !in_force) {
    Adopt(*std::move(offered), /*store=*/true);
  } else if (checkpoint_stale_) {
    StoreCheckpoint();
  }
}

void Agent::Adopt(SpecUpdate update, bool store) {
  current_ = std::move(update);
  new_spec_ = true;
  if (store && parts_.checkpoint != nullptr) StoreCheckpoint();
  const NodeSpec& spec = current_->spec;
  unimplemented_.clear();
  meaningless_.clear();
  if (parts_.policy_file != nullptr) {
    AloneFields alone = FindAlone(spec.spec());
    unimplemented_ = std::move(alone.unimplemented);
    meaningless_ = std::move(alone.meaningless);
  } else if (spec.has_policy()) {
    unimplemented_ = FindUnimplemented(spec.spec(), SpecFields());
  }
  LogInfo("policy in force", {{"policy", NameOf(spec)},
                              {"revision", spec.policy().revision()},
                              {"version", current_->version},
                              {"not_implemented", absl::StrJoin(unimplemented_, ",")}});
  if (!meaningless_.empty()) {
    LogWarning("fields have no meaning with --policy, which is about this node alone",
               {{"fields", absl::StrJoin(meaningless_, ",")}});
  }
}

void Agent::StoreCheckpoint() {
  const absl::Status stored = parts_.checkpoint->Store(*current_);
  const bool was_stale = std::exchange(checkpoint_stale_, !stored.ok());
  if (stored.ok()) {
    source_fault_.clear();
    if (was_stale) LogInfo("checkpoint written at last", {{"version", current_->version}});
    return;
  }
  // Applied all the same: working without a net is better than not working.
  ++checkpoint_errors_total_;
  source_fault_ = absl::StrCat("the spec cannot be kept for a restart: ", stored.message());
  if (!was_stale) LogError("checkpoint not written", {{"error", stored.message()}});
}

void Agent::Tick() {
  const absl::Duration started = parts_.clock.Monotonic();
  TakeSpec();
  const bool new_spec = std::exchange(new_spec_, false);
  HostFeatures features = ReadHostFeatures(parts_.files);
  std::vector<SettingReport> settings;
  if (current_.has_value()) settings = ApplySpec(features, new_spec, started);
  Publish(std::move(features), std::move(settings), new_spec, started);
}

std::vector<SettingReport> Agent::ApplySpec(const HostFeatures& features, bool new_spec,
                                            absl::Duration now) {
  const NodeSpec& spec = current_->spec;
  SettingApplier::Request request;
  request.mode = ModeOf(spec);
  request.restore = spec.spec().deletion() != ReclaimPolicySpec::Keep;
  if (spec.has_policy()) request.desired = ResolveSettings(spec.spec(), features, parts_.files);
  if (new_spec) {
    applier_.NewSpec();
    parts_.reclaimer.SetTargets(PlanTargets(spec), request.mode);
  }
  return applier_.Apply(request, now);
}

// Counts in a status change all the time; they are sent now and then, and when a target begins.
std::vector<TargetReport> Agent::TargetsForStatus(bool new_spec) {
  std::vector<TargetReport> now = parts_.reclaimer.Reports();
  const absl::Duration time = parts_.clock.Monotonic();
  const auto begun = [&](size_t i) {
    return now[i].requested_bytes > 0 && status_targets_[i].requested_bytes == 0;
  };
  bool fresh =
      new_spec || now.size() != status_targets_.size() || time - amounts_at_ >= kAmountsInterval;
  for (size_t i = 0; !fresh && i < now.size(); ++i) fresh = begun(i);
  if (fresh) {
    amounts_at_ = time;
    status_targets_ = now;
    return now;
  }
  for (size_t i = 0; i < now.size(); ++i) {
    status_targets_[i].reason = now[i].reason;
    status_targets_[i].message = now[i].message;
  }
  return status_targets_;
}

std::string Agent::Fault() const {
  std::vector<std::string> faults;
  if (!source_fault_.empty()) faults.push_back(source_fault_);
  if (!parts_.journal.damage().empty()) faults.push_back(parts_.journal.damage());
  std::vector<std::string> unknown;
  if (parts_.journal.originals_lost()) {
    for (const auto& [key, entry] : parts_.journal.entries()) unknown.push_back(DescribeKey(key));
  }
  if (!unknown.empty()) {
    faults.push_back(absl::StrCat("the journal was damaged, so the original value is not known of ",
                                  absl::StrJoin(unknown, ", "),
                                  "; it stays when the policy goes, until a reboot"));
  }
  if (!applier_.journal_status().ok()) {
    faults.push_back(absl::StrCat("journal: ", applier_.journal_status().message()));
  }
  return absl::StrJoin(faults, "; ");
}

void Agent::Publish(HostFeatures features, std::vector<SettingReport> settings, bool new_spec,
                    absl::Duration started) {
  auto view = std::make_shared<AgentView>();
  view->snapshot = snapshots_.Read();

  StatusInput input;
  input.spec_known = current_.has_value();
  if (current_.has_value()) input.spec = current_->spec;
  input.features = std::move(features);
  input.settings = settings;
  input.targets = TargetsForStatus(new_spec);
  input.unimplemented = unimplemented_;
  input.meaningless = meaningless_;
  for (const NumaNodeSnapshot& node : view->snapshot.numa_nodes) {
    if (node.has_memory) input.workers_effective[node.id] = node.kswapd_workers;
  }
  input.fault = Fault();
  input.agent_version = std::string(Version());
  const kswapd::v1alpha1::NodeReclaimStatus status = BuildStatus(input);
  if (parts_.publish != nullptr) {
    parts_.publish(status, current_.has_value() ? current_->version : "");
  }

  view->settings = std::move(settings);
  view->targets = parts_.reclaimer.Reports();
  if (input.spec.has_policy()) {
    view->policy = input.spec.policy().name();
    view->revision = input.spec.policy().revision();
  }
  if (parts_.checkpoint != nullptr) view->checkpoint_time = parts_.checkpoint->WrittenAt();
  view->checkpoint_errors_total = checkpoint_errors_total_;
  view->policy_file_errors_total = policy_file_errors_total_;
  const absl::Duration ended = parts_.clock.Monotonic();
  tick_time_total_ += ended - started;
  view->ticks_total = ++ticks_total_;
  view->tick_time_total = tick_time_total_;
  absl::MutexLock lock(&mutex_);
  view_ = std::move(view);
  last_tick_ = ended;
}

std::shared_ptr<const AgentView> Agent::View() const {
  absl::MutexLock lock(&mutex_);
  return view_;
}

absl::Status Agent::Liveness() const {
  absl::MutexLock lock(&mutex_);
  const absl::Duration since = parts_.clock.Monotonic() - last_tick_;
  const absl::Duration allowed = std::max(10 * parts_.tick, absl::Minutes(1));
  if (since <= allowed) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat("the last round ended ", absl::ToInt64Seconds(since), " s ago"));
}

absl::Status Agent::Readiness() const {
  absl::MutexLock lock(&mutex_);
  if (view_ != nullptr) return absl::OkStatus();
  return absl::UnavailableError("the first round has not ended");
}

}  // namespace reclaim::agent
