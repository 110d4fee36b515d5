// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_PLANNER_H_
#define RECLAIM_OPERATOR_CONTROLLERS_PLANNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/cancellation.h"
#include "operator/policy/world.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace reclaim::op {

struct PlannerOptions {
  // Changes that come within this time of the first are planned together: one `kubectl apply -f` of
  // many objects, or many nodes that join.
  absl::Duration coalesce = absl::Milliseconds(20);
};

// Turns the caches into a World, again each time one of them changes, and hands it on with what is
// different.
//
// One thread from Start to Stop. Poke is thread-safe and does not block.
class Planner {
 public:
  struct Input {
    std::vector<Policy> policies;
    std::vector<std::shared_ptr<const Node>> nodes;
  };
  struct Output {
    std::shared_ptr<const World> world;
    std::vector<std::string> nodes;     // changed; see ChangedNodes
    std::vector<std::string> policies;  // changed; see ChangedPolicies
    absl::Duration changed_at;          // when the first of the changes was seen
  };

  // `read` and `publish` are called on the planner's thread (and by PlanNow on the caller's).
  Planner(std::function<Input()> read, std::function<void(Output)> publish, Clock& clock,
          prometheus::Registry& registry, const PlannerOptions& options = {});
  ~Planner();  // Stop()

  // A cache has changed.
  void Poke();

  // Plans at once. Before Start only: it makes the first world.
  void PlanNow();

  void Start();
  void Stop();

  // For /healthz: fails when a change has waited for this long, that is, when the thread hangs.
  // Before Start nothing hangs: the caches may take their time. Thread-safe.
  static constexpr absl::Duration kHung = absl::Seconds(60);
  absl::Status Healthy() const;

 private:
  void Run();
  void Plan(absl::Duration changed_at);

  const std::function<Input()> read_;
  const std::function<void(Output)> publish_;
  Clock& clock_;
  const PlannerOptions options_;
  prometheus::Histogram& plan_seconds_;
  std::shared_ptr<const World> world_;  // the last one; the thread's (before Start: PlanNow's)
  kube::Cancellation cancellation_;
  std::thread thread_;  // of the threads that call Start and Stop
  mutable absl::Mutex mutex_;
  std::optional<absl::Duration> poked_at_ ABSL_GUARDED_BY(mutex_);  // first not yet planned
  std::optional<absl::Duration> planning_since_ ABSL_GUARDED_BY(mutex_);
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_PLANNER_H_
