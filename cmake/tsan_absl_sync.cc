// SPDX-License-Identifier: Apache-2.0
//
// Linked into each program of a ThreadSanitizer build, and only there.
//
// Debian's absl is not built with ThreadSanitizer, so TSan does not see that absl::Mutex orders
// anything and reports a race for a counter that is correctly locked. This file stands in front of
// absl's own symbols, tells TSan what they mean, and calls them. What the library does inside a
// call (it evaluates other threads' Conditions while it holds the mutex) is ignored there: the
// order that matters is the one between the callers.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

// The method of the same name in the next library. The name is asked of the dynamic linker, because
// absl has its release in every mangled name.
template <typename Method>
Method Next(Method here) {
  void* address = nullptr;  // the first word of a pointer to a method that is not virtual
  memcpy(&address, &here, sizeof(address));
  Dl_info info;
  void* next = nullptr;
  if (dladdr(address, &info) != 0 && info.dli_sname != nullptr && info.dli_saddr == address) {
    next = dlsym(RTLD_NEXT, info.dli_sname);
  }
  if (next == nullptr) {
    fprintf(stderr, "tsan_absl_sync: cannot find absl's own method\n");
    abort();
  }
  Method method = here;
  memcpy(&method, &next, sizeof(next));
  return method;
}

class Ignored {
 public:
  Ignored() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Ignored() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};

// Calls absl's method between a release and an acquire of `sync`, as far as asked.
struct Order {
  bool release;
  bool acquire;
};

template <typename Object, typename Method, typename... Args>
auto Call(Order order, void* sync, Object* object, Method method, Args&&... args) {
  if (order.release) __tsan_release(sync);
  struct AcquireAtEnd {
    bool acquire;
    void* sync;
    ~AcquireAtEnd() {
      if (acquire) __tsan_acquire(sync);
    }
  } at_end{order.acquire, sync};
  Ignored ignored;
  return (object->*method)(std::forward<Args>(args)...);
}

constexpr Order kAcquire = {false, true};
constexpr Order kRelease = {true, false};
constexpr Order kBoth = {true, true};

// absl::Notification is a Mutex and then the flag that HasBeenNotified, inline, loads.
void* FlagOf(const absl::Notification* notification) {
  return const_cast<char*>(reinterpret_cast<const char*>(notification)) + sizeof(absl::Mutex);
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

#define RECLAIM_FORWARD(order, sync, method, ...) \
  static const auto next = Next(method);          \
  return Call(order, sync, this, next __VA_OPT__(, ) __VA_ARGS__)

void Mutex::Lock() { RECLAIM_FORWARD(kAcquire, this, &Mutex::Lock); }
void Mutex::Unlock() { RECLAIM_FORWARD(kRelease, this, &Mutex::Unlock); }
bool Mutex::TryLock() { RECLAIM_FORWARD(kAcquire, this, &Mutex::TryLock); }
void Mutex::ReaderLock() { RECLAIM_FORWARD(kAcquire, this, &Mutex::ReaderLock); }
void Mutex::ReaderUnlock() { RECLAIM_FORWARD(kRelease, this, &Mutex::ReaderUnlock); }
bool Mutex::ReaderTryLock() { RECLAIM_FORWARD(kAcquire, this, &Mutex::ReaderTryLock); }
void Mutex::Await(const Condition& condition) {
  RECLAIM_FORWARD(kBoth, this, &Mutex::Await, condition);
}
bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  RECLAIM_FORWARD(kBoth, this, &Mutex::AwaitWithTimeout, condition, timeout);
}
bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  RECLAIM_FORWARD(kBoth, this, &Mutex::AwaitWithDeadline, condition, deadline);
}
void Mutex::LockWhen(const Condition& condition) {
  RECLAIM_FORWARD(kAcquire, this, &Mutex::LockWhen, condition);
}
bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  RECLAIM_FORWARD(kAcquire, this, &Mutex::LockWhenWithTimeout, condition, timeout);
}
bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  RECLAIM_FORWARD(kAcquire, this, &Mutex::LockWhenWithDeadline, condition, deadline);
}
void Mutex::ReaderLockWhen(const Condition& condition) {
  RECLAIM_FORWARD(kAcquire, this, &Mutex::ReaderLockWhen, condition);
}

void CondVar::Wait(Mutex* mutex) { RECLAIM_FORWARD(kBoth, mutex, &CondVar::Wait, mutex); }
bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  RECLAIM_FORWARD(kBoth, mutex, &CondVar::WaitWithTimeout, mutex, timeout);
}
bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  RECLAIM_FORWARD(kBoth, mutex, &CondVar::WaitWithDeadline, mutex, deadline);
}

void Notification::Notify() { RECLAIM_FORWARD(kRelease, FlagOf(this), &Notification::Notify); }
void Notification::WaitForNotification() const {
  RECLAIM_FORWARD(kAcquire, FlagOf(this), &Notification::WaitForNotification);
}
bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  RECLAIM_FORWARD(kAcquire, FlagOf(this), &Notification::WaitForNotificationWithTimeout, timeout);
}
bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  RECLAIM_FORWARD(kAcquire, FlagOf(this), &Notification::WaitForNotificationWithDeadline, deadline);
}

bool BlockingCounter::DecrementCount() {
  RECLAIM_FORWARD(kBoth, this, &BlockingCounter::DecrementCount);
}
void BlockingCounter::Wait() { RECLAIM_FORWARD(kAcquire, this, &BlockingCounter::Wait); }

#undef RECLAIM_FORWARD

ABSL_NAMESPACE_END
}  // namespace absl
