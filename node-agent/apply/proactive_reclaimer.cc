// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/proactive_reclaimer.h"

#include <errno.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/reasons.h"
#include "node-agent/host/cgroup_glob.h"

namespace reclaim::agent {
namespace {

void Report(const char* reason, std::string message, TargetReport& report) {
  if (report.reason != reason) {
    LogInfo("target changed", {{"target", report.name}, {"reason", reason}, {"message", message}});
  }
  report.reason = reason;
  report.message = std::move(message);
}

// missing: places without a reclaim file; first_missing: the file of one of them.
std::string Describe(const TargetPlan& plan, size_t places, size_t missing,
                     const std::string& first_missing) {
  std::string text =
      absl::StrCat(plan.rate_text, " over ", places,
                   plan.numa_nodes.empty() ? " cgroup" : " NUMA node", places == 1 ? "" : "s");
  if (missing > 0) {
    absl::StrAppend(&text, "; not over ", missing, " more: there is no ", first_missing);
  }
  return text;
}

void AddAmounts(const ReclaimChunk& chunk, const ReclaimOutcome& outcome, TargetReport& report) {
  report.requested_bytes += chunk.bytes;
  report.reclaimed_bytes += outcome.reclaimed_bytes.value_or(0);
  if (outcome.error == EAGAIN) {
    ++report.eagain_total;
  } else if (outcome.error != 0) {
    ++report.errors_total;
  }
}

}  // namespace

void ProactiveReclaimer::SetTargets(std::vector<TargetPlan> plans, ApplyMode mode) {
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = clock_.Monotonic();
  std::vector<Target> targets;
  for (TargetPlan& plan : plans) {
    Target target;
    const auto old = std::find_if(targets_.begin(), targets_.end(),
                                  [&](const Target& t) { return t.plan.name == plan.name; });
    if (old != targets_.end()) {
      target.report = old->report;
      // Words about the old spec; the new one has not been tried.
      target.report.reason.clear();
      target.report.message.clear();
    }
    target.report.name = plan.name;
    target.plan = std::move(plan);
    target.progress.credit_at = now;
    target.expand_at = now;
    targets.push_back(std::move(target));
  }
  targets_ = std::move(targets);
  mode_ = mode;
  ++generation_;
  for (Target& target : targets_) Refresh(target, now);
}

std::vector<TargetReport> ProactiveReclaimer::Reports() const {
  absl::MutexLock lock(&mutex_);
  std::vector<TargetReport> reports;
  for (const Target& target : targets_) reports.push_back(target.report);
  return reports;
}

void ProactiveReclaimer::Start() {
  thread_ = std::thread([this] { Run(); });
}

void ProactiveReclaimer::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void ProactiveReclaimer::Run() {
  while (true) {
    uint64_t generation;
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
      generation = generation_;
    }
    const absl::Duration wait = RunDue();
    absl::MutexLock lock(&mutex_);
    const auto changed = [this, generation]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopping_ || generation_ != generation;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&changed), wait);
    if (stopping_) return;
  }
}

absl::Duration ProactiveReclaimer::RunDue() {
  size_t count;
  uint64_t generation;
  {
    absl::MutexLock lock(&mutex_);
    count = targets_.size();
    generation = generation_;
  }
  absl::Duration wait = absl::InfiniteDuration();
  for (size_t i = 0; i < count; ++i) wait = std::min(wait, RunTarget(i, generation));
  return wait;
}

absl::Duration ProactiveReclaimer::RunTarget(size_t index, uint64_t generation) {
  const int64_t page_bytes = PageBytes();
  const absl::Duration now = clock_.Monotonic();
  ReclaimChunk chunk;
  ReclaimPlace place;
  std::string name;
  std::string swappiness;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_ || generation_ != generation) return absl::ZeroDuration();
    Target& target = targets_[index];
    if (!target.plan.refusal_reason.empty()) return absl::InfiniteDuration();
    if (now >= target.expand_at) Refresh(target, now);
    if (mode_ != ApplyMode::kEnforce) return target.expand_at - now;
    chunk = NextReclaimChunk(target.plan.rate, target.progress, page_bytes, now);
    if (chunk.bytes == 0) return std::min(chunk.wait, target.expand_at - now);
    place = target.places[chunk.place];
    name = target.plan.name;
    swappiness = target.plan.swappiness;
  }

  const ReclaimOutcome outcome = ReclaimFrom(files_, writer_, place, chunk.bytes, swappiness);

  absl::MutexLock lock(&mutex_);
  if (generation_ == generation) {
    Target& target = targets_[index];
    target.progress =
        AfterChunk(std::move(target.progress), chunk, outcome.error != 0, clock_.Monotonic());
    Count(chunk, place, outcome, target);
    return absl::ZeroDuration();
  }
  // The spec changed meanwhile: what was done still counts, for the target of that name.
  for (Target& target : targets_) {
    if (target.plan.name == name) AddAmounts(chunk, outcome, target.report);
  }
  return absl::ZeroDuration();
}

void ProactiveReclaimer::Count(const ReclaimChunk& chunk, const ReclaimPlace& place,
                               const ReclaimOutcome& outcome, Target& target) {
  AddAmounts(chunk, outcome, target.report);
  // A cgroup that has ended meanwhile is no fault; the next expansion leaves it out.
  if (outcome.error == ENOENT || outcome.error == ENODEV) {
    target.expand_at = std::min(target.expand_at, clock_.Monotonic() + absl::Seconds(1));
    return;
  }
  std::string& refusal = target.refusals[chunk.place];
  refusal.clear();
  if (outcome.error != 0 && outcome.error != EAGAIN) {
    refusal = absl::StrCat(
        "asked ", chunk.bytes, " bytes",
        target.plan.swappiness.empty() ? "" : " with swappiness=", target.plan.swappiness,
        ", the kernel says ", ErrnoName(outcome.error), " (", ReclaimFile(files_, place).name, ")");
  }
  Conclude(target);
}

void ProactiveReclaimer::Refresh(Target& target, absl::Duration now) {
  target.expand_at = now + kExpandInterval;
  if (!target.plan.refusal_reason.empty()) {
    Conclude(target);
    return;
  }
  std::vector<ReclaimPlace> places;
  for (int id : target.plan.numa_nodes) places.push_back({id, ""});
  target.problem.clear();
  target.missing.clear();
  target.missing_count = 0;
  for (const std::string& pattern : target.plan.cgroup_patterns) {
    absl::StatusOr<std::vector<std::string>> cgroups = ExpandCgroups(files_, pattern, kMaxPlaces);
    if (!cgroups.ok()) {
      target.problem = std::string(cgroups.status().message());
      continue;
    }
    for (std::string& cgroup : *cgroups) {
      const ReclaimPlace place{std::nullopt, std::move(cgroup)};
      // Two patterns may name one cgroup; it gets one turn.
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  std::vector<ReclaimPlace> usable;
  for (ReclaimPlace& place : places) {
    const KernelFile file = ReclaimFile(files_, place);
    if (Exists(file)) {
      usable.push_back(std::move(place));
      continue;
    }
    if (target.missing.empty()) target.missing = file.name;
    ++target.missing_count;
  }

  // Places that stay keep their history.
  std::vector<PlaceState> states;
  std::vector<std::string> refusals;
  for (const ReclaimPlace& place : usable) {
    const auto old = std::find(target.places.begin(), target.places.end(), place);
    const size_t index = old - target.places.begin();
    const bool stays = old != target.places.end();
    states.push_back(stays ? target.progress.places[index] : PlaceState());
    refusals.push_back(stays ? target.refusals[index] : "");
  }
  target.places = std::move(usable);
  target.refusals = std::move(refusals);
  target.progress.places = std::move(states);
  Conclude(target);
}

void ProactiveReclaimer::Conclude(Target& target) {
  TargetReport& report = target.report;
  const size_t places = target.places.size();
  const std::string what = Describe(target.plan, places, target.missing_count, target.missing);
  const auto refuses = [](const std::string& refusal) { return !refusal.empty(); };
  const size_t refusing = std::count_if(target.refusals.begin(), target.refusals.end(), refuses);
  if (!target.plan.refusal_reason.empty()) {
    Report(target.plan.refusal_reason.c_str(), target.plan.refusal_message, report);
  } else if (!target.problem.empty()) {
    Report(reason::kRefused, target.problem, report);
  } else if (places == 0 && !target.missing.empty()) {
    Report(reason::kUnsupported, absl::StrCat("this kernel has no ", target.missing), report);
  } else if (places == 0) {
    // No fault: pods come and go. But no success either, and a misspelt path looks just like it.
    Report(reason::kNoCgroupsMatched,
           absl::StrCat("no cgroup of this node matches ",
                        absl::StrJoin(target.plan.cgroup_patterns, ", "), " now"),
           report);
  } else if (mode_ == ApplyMode::kObserve) {
    Report(reason::kObserved, absl::StrCat("mode is Observe: would reclaim ", what), report);
  } else if (mode_ == ApplyMode::kPaused) {
    Report(reason::kPaused, "the policy is paused; nothing is reclaimed", report);
  } else if (refusing == 0) {
    Report(reason::kReclaiming, what, report);
  } else {
    const std::string& first =
        *std::find_if(target.refusals.begin(), target.refusals.end(), refuses);
    if (refusing < places) {
      Report(reason::kReclaiming,
             absl::StrCat(what, "; ", refusing, " of ", places, " places refuse",
                          refusing == 1 ? "s" : "", ": ", first),
             report);
    } else {
      Report(reason::kRefused,
             places == 1 ? first : absl::StrCat("all ", places, " places refuse: ", first), report);
    }
  }
}

}  // namespace reclaim::agent
