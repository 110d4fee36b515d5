// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/planner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {

Planner::Planner(std::function<Input()> read, std::function<void(Output)> publish, Clock& clock,
                 prometheus::Registry& registry, const PlannerOptions& options)
    : read_(std::move(read)),
      publish_(std::move(publish)),
      clock_(clock),
      options_(options),
      plan_seconds_(HistogramOf(registry, rows::kPlanSeconds)) {}

Planner::~Planner() { Stop(); }

void Planner::Poke() {
  absl::MutexLock lock(&mutex_);
  if (!poked_at_.has_value()) poked_at_ = clock_.Monotonic();
}

void Planner::PlanNow() {
  {
    // What has changed until here is in the caches that are read next.
    absl::MutexLock lock(&mutex_);
    poked_at_.reset();
  }
  Plan(clock_.Monotonic());
}

void Planner::Start() {
  {
    absl::MutexLock lock(&mutex_);
    started_ = true;
  }
  thread_ = std::thread([this] { Run(); });
}

void Planner::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  cancellation_.Cancel();
  if (thread_.joinable()) thread_.join();
}

void Planner::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this] {
        mutex_.AssertHeld();
        return stopping_ || poked_at_.has_value();
      };
      mutex_.Await(absl::Condition(&has_work));
    }
    if (cancellation_.Sleep(options_.coalesce)) return;
    absl::Duration changed_at;
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
      changed_at = *std::exchange(poked_at_, std::nullopt);
      planning_since_ = clock_.Monotonic();
    }
    Plan(changed_at);
    absl::MutexLock lock(&mutex_);
    planning_since_.reset();
  }
}

void Planner::Plan(absl::Duration changed_at) {
  const absl::Duration begin = clock_.Monotonic();
  Input input = read_();
  Output output;
  output.world = World::Build(std::move(input.policies), input.nodes, world_.get());
  output.nodes = ChangedNodes(world_.get(), *output.world);
  output.policies = ChangedPolicies(world_.get(), *output.world);
  output.changed_at = changed_at;
  world_ = output.world;
  plan_seconds_.Observe(absl::ToDoubleSeconds(clock_.Monotonic() - begin));
  publish_(std::move(output));
}

absl::Status Planner::Healthy() const {
  absl::MutexLock lock(&mutex_);
  const std::optional<absl::Duration> since =
      planning_since_.has_value() ? planning_since_ : poked_at_;
  if (!since.has_value() || !started_) return absl::OkStatus();
  const absl::Duration waited = clock_.Monotonic() - *since;
  if (waited < kHung) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("a change has waited for ", absl::FormatDuration(waited), " to be planned"));
}

}  // namespace reclaim::op
