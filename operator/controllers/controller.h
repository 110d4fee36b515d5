// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_CONTROLLER_H_
#define RECLAIM_OPERATOR_CONTROLLERS_CONTROLLER_H_

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/work_queue.h"
#include "operator/metrics/queue_metrics.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// What a reconciliation asks for.
struct ReconcileResult {
  // Look at the key again after this long, whatever happens.
  std::optional<absl::Duration> requeue_after;
  // What is to be done was not tried this time: failures before are not over, the back-off goes on.
  bool postponed = false;
};

// Workers that take keys from a queue and bring what each names in line: read all, write the
// difference. A failed key is tried again with a back-off; one that the API server finds invalid is
// not, because the same write would be refused again (the next change of its input tries anew).
// An exception that escapes from a reconciliation is a failure of that key.
//
// Threads: `workers`, from Start to Stop. Add is thread-safe.
class Controller {
 public:
  using Reconcile = std::function<absl::StatusOr<ReconcileResult>(const std::string& key)>;

  // `name` is the label of the metrics. References must outlive it.
  Controller(std::string name, int workers, Reconcile reconcile, Clock& clock,
             prometheus::Registry& registry);
  ~Controller();  // Stop()

  void Start();
  // Finishes what is being worked on and what waits, and joins.
  void Stop();

  void Add(absl::string_view key) { queue_.Add(key); }
  void AddAfter(absl::string_view key, absl::Duration delay) { queue_.AddAfter(key, delay); }

  const std::string& name() const { return name_; }
  const kube::WorkQueue& queue() const { return queue_; }

 private:
  void Run();
  void Work(const std::string& key);
  // One bad key must not end the process, and with it the work on all others.
  absl::StatusOr<ReconcileResult> ReconcileWithoutThrowing(const std::string& key) const;

  const std::string name_;
  const int workers_;
  const Reconcile reconcile_;
  Clock& clock_;
  prometheus::Registry& registry_;
  QueueMetrics metrics_;
  kube::WorkQueue queue_;
  std::vector<std::thread> threads_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_CONTROLLER_H_
