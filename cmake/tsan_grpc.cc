// SPDX-License-Identifier: Apache-2.0
//
// What ThreadSanitizer must know about gRPC, OpenSSL and protobuf, which Debian builds without it.
//
// They order their threads by atomics that the sanitizer does not see, so each memcpy and free in
// them would look like a race (134 reports of one clean run of operator_link_test). Memory accesses
// made by libraries that are not instrumented are therefore left out; ours, and all locks, are not.
//
// grpcpp's callback API is headers, so it is compiled, instrumented, into our programs, while what
// orders it stays in the library. Three hand-overs are therefore told here, by functions that stand
// in front of the library's own. No report is suppressed for them: a suppression could not tell
// gRPC's std::function from ours, and would leave the destruction of a reactor unjudged.
//
//   from                                to                        told through
//   the start of an operation           its callback              the operation's tag
//   each reaction, OnCancel too         OnDone                    the count of callbacks
//   the reactor's set-up                OnCancel                  the count of cancel conditions
//
// A program without gRPC has these functions too; nothing calls them there.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }

// gRPC leaves threads behind when the process ends.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "thread:grpc_core::Thread::Thread\n";
}

// gRPC's headers are left out, because each program of a TSan build links this file and few link
// gRPC. The names below are those of its symbols.
#define RECLAIM_START_BATCH "grpc_call_start_batch"
#define RECLAIM_RUN_TAG \
  "_ZN4grpc8internal22CallbackWithSuccessTag9StaticRunEP29grpc_completion_queue_functori"
#define RECLAIM_SCHEDULE_ON_DONE "_ZN4grpc8internal18ServerCallbackCall14ScheduleOnDoneEb"
#define RECLAIM_CALL_ON_CANCEL \
  "_ZN4grpc8internal18ServerCallbackCall12CallOnCancelEPNS0_13ServerReactorE"

namespace reclaim {

// The first members of grpc::internal::ServerCallbackCall, grpcpp/support/server_callback.h.
struct ServerCallbackCall {
  void* vtable;
  int on_cancel_conditions_remaining;
  int callbacks_outstanding;
};

// grpc::internal::ServerReactor of the same header: its virtual functions, in its order.
class ServerReactor {
 public:
  virtual ~ServerReactor() = default;
  virtual void OnDone() = 0;
  virtual void OnCancel() = 0;
  virtual bool InternalInlineable() = 0;
};

int StartBatch(void* call, const void* ops, size_t count, void* tag,
               void* reserved) __asm__(RECLAIM_START_BATCH);
void RunTag(void* tag, int ok) __asm__(RECLAIM_RUN_TAG);
void ScheduleOnDone(ServerCallbackCall* call, bool inlined) __asm__(RECLAIM_SCHEDULE_ON_DONE);
void CallOnCancel(ServerCallbackCall* call, ServerReactor* reactor) __asm__(RECLAIM_CALL_ON_CANCEL);

namespace {

// The library's own function.
template <typename Function>
Function* Next(Function* /*here*/, const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) {
    fprintf(stderr, "tsan_grpc: cannot find gRPC's own %s\n", name);
    abort();
  }
  return reinterpret_cast<Function*>(next);
}

// Stands in for a reactor in its one OnCancel, after which the library counts down, unseen.
class CountedOnCancel final : public ServerReactor {
 public:
  CountedOnCancel(ServerCallbackCall* call, ServerReactor* reactor)
      : call_(call), reactor_(reactor) {}

  void OnDone() override { abort(); }
  void OnCancel() override {
    reactor_->OnCancel();
    __tsan_release(&call_->callbacks_outstanding);
    delete this;
  }
  bool InternalInlineable() override { return reactor_->InternalInlineable(); }

 private:
  ServerCallbackCall* const call_;
  ServerReactor* const reactor_;
};

}  // namespace

int StartBatch(void* call, const void* ops, size_t count, void* tag, void* reserved) {
  static auto* const next = Next(&StartBatch, RECLAIM_START_BATCH);
  __tsan_release(tag);
  return next(call, ops, count, tag, reserved);
}

void RunTag(void* tag, int ok) {
  static auto* const next = Next(&RunTag, RECLAIM_RUN_TAG);
  __tsan_acquire(tag);
  next(tag, ok);
}

// Called by who counted down to 0, perhaps in the library: then the earlier ones were not seen.
void ScheduleOnDone(ServerCallbackCall* call, bool inlined) {
  static auto* const next = Next(&ScheduleOnDone, RECLAIM_SCHEDULE_ON_DONE);
  __tsan_acquire(&call->callbacks_outstanding);
  next(call, inlined);
}

void CallOnCancel(ServerCallbackCall* call, ServerReactor* reactor) {
  static auto* const next = Next(&CallOnCancel, RECLAIM_CALL_ON_CANCEL);
  __tsan_acquire(&call->on_cancel_conditions_remaining);
  next(call, new CountedOnCancel(call, reactor));
}

}  // namespace reclaim
