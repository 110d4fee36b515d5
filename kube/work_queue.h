// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_WORK_QUEUE_H_
#define RECLAIM_KUBE_WORK_QUEUE_H_

#include <deque>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/rate_limiter.h"

namespace reclaim::kube {

// Told what a queue does; the source of the workqueue_* metrics that dashboards know. Called under
// the queue's lock: be short, do not call back.
class WorkQueueObserver {
 public:
  virtual ~WorkQueueObserver() = default;
  virtual void OnAdd(size_t depth) = 0;                         // workqueue_adds_total, _depth
  virtual void OnGet(absl::Duration queued, size_t depth) = 0;  // _queue_duration_seconds, _depth
  virtual void OnDone(absl::Duration worked) = 0;               // _work_duration_seconds
  virtual void OnRetry() = 0;                                   // _retries_total
};

// Keys that need work (client-go's workqueue). Guarantees: a key waits at most once however often
// it is added; no key is worked on by two threads at a time; a key added while it is worked on is
// worked on again afterwards, so no change is lost.
//
//   while (auto key = queue.Get()) {
//     if (Reconcile(*key).ok()) queue.Forget(*key); else queue.AddRateLimited(*key);
//     queue.Done(*key);
//   }
//
// Thread-safe.
class WorkQueue {
 public:
  explicit WorkQueue(Clock& clock, const RateLimiterOptions& limits = {},
                     WorkQueueObserver* observer = nullptr);

  void Add(absl::string_view key);

  // Adds `key` after `delay`; of several for one key the earliest holds.
  void AddAfter(absl::string_view key, absl::Duration delay);

  // Adds `key` after its back-off, for work that failed.
  void AddRateLimited(absl::string_view key);

  // The work on `key` succeeded: its next failure starts with the shortest delay.
  void Forget(absl::string_view key);

  // Failures since the last Forget.
  int NumRequeues(absl::string_view key) const;

  // The next key; waits for one. Done(key) must follow. nullopt: shut down and nothing left.
  std::optional<std::string> Get();

  // The next key, or nullopt at once when there is none (or what there is is not due yet).
  std::optional<std::string> TryGet();

  void Done(absl::string_view key);

  // No key is taken in any more (delayed ones are dropped), what waits is still handed out, then
  // Get() ends.
  void ShutDown();

  bool shutting_down() const;
  size_t depth() const;  // keys ready to be worked on

  // Sum and maximum of the time that the keys under work have been so:
  // workqueue_unfinished_work_seconds and workqueue_longest_running_processor_seconds.
  absl::Duration UnfinishedWork() const;
  absl::Duration LongestRunning() const;

 private:
  void AddLocked(absl::string_view key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddAfterLocked(absl::string_view key, absl::Duration delay)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves what is due into the queue; returns the time until the next, infinite when there is none.
  absl::Duration MoveDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<std::string> PopLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  WorkQueueObserver* const observer_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  RateLimiter limiter_ ABSL_GUARDED_BY(mutex_);
  // Keys in `queue_` are dirty and not under work; a key under work that is added again is dirty
  // and goes to the queue when it is done.
  std::deque<std::string> queue_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, absl::Duration> dirty_ ABSL_GUARDED_BY(mutex_);       // since
  absl::flat_hash_map<std::string, absl::Duration> processing_ ABSL_GUARDED_BY(mutex_);  // since
  absl::btree_set<std::pair<absl::Duration, std::string>> delayed_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, absl::Duration> due_ ABSL_GUARDED_BY(mutex_);  // of delayed_
  bool shutting_down_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_WORK_QUEUE_H_
