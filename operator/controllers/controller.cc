// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/controller.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "kube/status.h"
#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {
namespace {

// client-go's limits with two other numbers: its first retries (5 ms) are a hot loop while the API
// server is away, and its longest (17 minutes) leaves a status wrong long after it is back.
constexpr kube::RateLimiterOptions kLimits = {
    .base_delay = absl::Milliseconds(100), .max_delay = absl::Seconds(30), .qps = 10, .burst = 100};

}  // namespace

Controller::Controller(std::string name, int workers, Reconcile reconcile, Clock& clock,
                       prometheus::Registry& registry)
    : name_(std::move(name)),
      workers_(workers),
      reconcile_(std::move(reconcile)),
      clock_(clock),
      registry_(registry),
      metrics_(registry, name_),
      queue_(clock, kLimits, &metrics_) {
  GaugeOf(registry_, rows::kMaxConcurrentReconciles, {name_}).Set(workers_);
  GaugeOf(registry_, rows::kActiveWorkers, {name_}).Set(0);
  CounterOf(registry_, rows::kReconcileErrors, {name_});
}

Controller::~Controller() { Stop(); }

void Controller::Start() {
  for (int i = 0; i < workers_; ++i) threads_.emplace_back([this] { Run(); });
}

void Controller::Stop() {
  queue_.ShutDown();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Controller::Run() {
  prometheus::Gauge& active = GaugeOf(registry_, rows::kActiveWorkers, {name_});
  while (const std::optional<std::string> key = queue_.Get()) {
    active.Increment();
    Work(*key);
    active.Decrement();
    queue_.Done(*key);
  }
}

absl::StatusOr<ReconcileResult> Controller::ReconcileWithoutThrowing(const std::string& key) const {
  try {
    return reconcile_(key);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("exception: ", error.what()));
  } catch (...) {
    return absl::InternalError("an exception that is no std::exception");
  }
}

void Controller::Work(const std::string& key) {
  const absl::Duration begin = clock_.Monotonic();
  const absl::StatusOr<ReconcileResult> result = ReconcileWithoutThrowing(key);
  HistogramOf(registry_, rows::kReconcileSeconds, {name_})
      .Observe(absl::ToDoubleSeconds(clock_.Monotonic() - begin));
  const auto count = [this](absl::string_view outcome) {
    CounterOf(registry_, rows::kReconcileTotal, {name_, outcome}).Increment();
  };
  if (result.ok()) {
    if (!result->postponed) queue_.Forget(key);
    if (result->requeue_after.has_value()) queue_.AddAfter(key, *result->requeue_after);
    count(result->requeue_after.has_value() ? "requeue_after" : "success");
    return;
  }
  count("error");
  CounterOf(registry_, rows::kReconcileErrors, {name_}).Increment();
  const int failures = queue_.NumRequeues(key);
  // The first failure and then each time their number has doubled.
  if ((failures & (failures - 1)) == 0) {
    LogError("reconcile failed", {{"controller", name_},
                                  {"key", key},
                                  {"failures_before", failures},
                                  {"error", result.status().ToString()}});
  }
  if (kube::IsInvalid(result.status())) {
    queue_.Forget(key);
  } else {
    queue_.AddRateLimited(key);
  }
}

}  // namespace reclaim::op
