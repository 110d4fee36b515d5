// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_CANCELLATION_H_
#define RECLAIM_KUBE_CANCELLATION_H_

#include <cstdint>
#include <functional>
#include <map>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace reclaim::kube {

// "Stop now", said once from any thread to whoever waits: for the network or for time to pass.
//
// Thread-safe. Must outlive its registrations.
class Cancellation {
 public:
  // Calls every registered callback on this thread, then wakes the sleepers. Later calls do
  // nothing.
  void Cancel();

  bool cancelled() const;

  // Sleeps for `duration` or until Cancel(); true = cancelled.
  bool Sleep(absl::Duration duration) const;

  // Runs `callback` on Cancel(), or at once when that has already happened, as long as the
  // registration lives. The callback runs under this object's lock: it must be short and must not
  // call back. After the destructor returns it is not running and will not.
  class Registration {
   public:
    Registration(Cancellation& cancellation, std::function<void()> callback);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    Cancellation& cancellation_;
    uint64_t id_;
  };

 private:
  mutable absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, std::function<void()>> callbacks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_CANCELLATION_H_
