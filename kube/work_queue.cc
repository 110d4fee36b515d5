// SPDX-License-Identifier: Apache-2.0
#include "kube/work_queue.h"

#include <algorithm>
#include <utility>

namespace reclaim::kube {

WorkQueue::WorkQueue(Clock& clock, const RateLimiterOptions& limits, WorkQueueObserver* observer)
    : clock_(clock), observer_(observer), limiter_(limits) {}

void WorkQueue::Add(absl::string_view key) {
  absl::MutexLock lock(&mutex_);
  AddLocked(key);
}

void WorkQueue::AddLocked(absl::string_view key) {
  if (shutting_down_) return;
  if (!dirty_.try_emplace(key, clock_.Monotonic()).second) return;
  if (!processing_.contains(key)) queue_.emplace_back(key);
  if (observer_ != nullptr) observer_->OnAdd(queue_.size());
  changed_.Signal();
}

void WorkQueue::AddAfter(absl::string_view key, absl::Duration delay) {
  absl::MutexLock lock(&mutex_);
  AddAfterLocked(key, delay);
}

void WorkQueue::AddAfterLocked(absl::string_view key, absl::Duration delay) {
  if (shutting_down_) return;
  if (delay <= absl::ZeroDuration()) {
    AddLocked(key);
    return;
  }
  const absl::Duration due = clock_.Monotonic() + delay;
  const auto [it, is_new] = due_.try_emplace(key, due);
  if (!is_new) {
    if (it->second <= due) return;
    delayed_.erase({it->second, std::string(key)});
    it->second = due;
  }
  delayed_.emplace(due, std::string(key));
  // Everyone who waits: the one that a single signal wakes may take another key and be busy when
  // this one is due.
  changed_.SignalAll();
}

void WorkQueue::AddRateLimited(absl::string_view key) {
  absl::MutexLock lock(&mutex_);
  if (shutting_down_) return;
  if (observer_ != nullptr) observer_->OnRetry();
  AddAfterLocked(key, limiter_.Next(key, clock_.Monotonic()));
}

void WorkQueue::Forget(absl::string_view key) {
  absl::MutexLock lock(&mutex_);
  limiter_.Forget(key);
}

int WorkQueue::NumRequeues(absl::string_view key) const {
  absl::MutexLock lock(&mutex_);
  return limiter_.Failures(key);
}

absl::Duration WorkQueue::MoveDue() {
  const absl::Duration now = clock_.Monotonic();
  while (!delayed_.empty()) {
    const auto [due, key] = *delayed_.begin();
    if (due > now) return due - now;
    delayed_.erase(delayed_.begin());
    due_.erase(key);
    AddLocked(key);
  }
  return absl::InfiniteDuration();
}

std::optional<std::string> WorkQueue::PopLocked() {
  if (queue_.empty()) return std::nullopt;
  std::string key = std::move(queue_.front());
  queue_.pop_front();
  const absl::Duration now = clock_.Monotonic();
  const auto waiting = dirty_.find(key);
  const absl::Duration queued = now - waiting->second;
  dirty_.erase(waiting);
  processing_.emplace(key, now);
  if (observer_ != nullptr) observer_->OnGet(queued, queue_.size());
  return key;
}

std::optional<std::string> WorkQueue::Get() {
  absl::MutexLock lock(&mutex_);
  for (;;) {
    const absl::Duration until_next = MoveDue();
    if (std::optional<std::string> key = PopLocked()) return key;
    // A key under work may come back when it is done, but not to a queue that shuts down for the
    // callers that already see it empty: the thread that works on it will get it.
    if (shutting_down_) return std::nullopt;
    changed_.WaitWithTimeout(&mutex_, until_next);
  }
}

std::optional<std::string> WorkQueue::TryGet() {
  absl::MutexLock lock(&mutex_);
  MoveDue();
  return PopLocked();
}

void WorkQueue::Done(absl::string_view key) {
  absl::MutexLock lock(&mutex_);
  const auto it = processing_.find(key);
  if (it == processing_.end()) return;
  if (observer_ != nullptr) observer_->OnDone(clock_.Monotonic() - it->second);
  processing_.erase(it);
  if (dirty_.contains(key)) {
    queue_.emplace_back(key);
    changed_.Signal();
  }
}

void WorkQueue::ShutDown() {
  absl::MutexLock lock(&mutex_);
  shutting_down_ = true;
  delayed_.clear();
  due_.clear();
  changed_.SignalAll();
}

bool WorkQueue::shutting_down() const {
  absl::MutexLock lock(&mutex_);
  return shutting_down_;
}

size_t WorkQueue::depth() const {
  absl::MutexLock lock(&mutex_);
  return queue_.size();
}

absl::Duration WorkQueue::UnfinishedWork() const {
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = clock_.Monotonic();
  absl::Duration sum = absl::ZeroDuration();
  for (const auto& [key, since] : processing_) sum += now - since;
  return sum;
}

absl::Duration WorkQueue::LongestRunning() const {
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = clock_.Monotonic();
  absl::Duration longest = absl::ZeroDuration();
  for (const auto& [key, since] : processing_) longest = std::max(longest, now - since);
  return longest;
}

}  // namespace reclaim::kube
