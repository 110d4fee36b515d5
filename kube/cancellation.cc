// SPDX-License-Identifier: Apache-2.0
#include "kube/cancellation.h"

#include <utility>

namespace reclaim::kube {

void Cancellation::Cancel() {
  absl::MutexLock lock(&mutex_);
  if (cancelled_) return;
  cancelled_ = true;
  for (const auto& [id, callback] : callbacks_) callback();
}

bool Cancellation::cancelled() const {
  absl::ReaderMutexLock lock(&mutex_);
  return cancelled_;
}

bool Cancellation::Sleep(absl::Duration duration) const {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&cancelled_), duration);
}

Cancellation::Registration::Registration(Cancellation& cancellation, std::function<void()> callback)
    : cancellation_(cancellation) {
  absl::MutexLock lock(&cancellation_.mutex_);
  id_ = cancellation_.next_id_++;
  if (cancellation_.cancelled_) callback();
  cancellation_.callbacks_[id_] = std::move(callback);
}

Cancellation::Registration::~Registration() {
  absl::MutexLock lock(&cancellation_.mutex_);
  cancellation_.callbacks_.erase(id_);
}

}  // namespace reclaim::kube
