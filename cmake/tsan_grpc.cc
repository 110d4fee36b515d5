// SPDX-License-Identifier: Apache-2.0
//
// What ThreadSanitizer must know about gRPC, OpenSSL and protobuf, which Debian builds without it.
//
// They order their threads by atomics that the sanitizer does not see, so each memcpy and free in
// them would look like a race (134 reports of one clean run of operator_link_test). Memory accesses
// made by libraries that are not instrumented are therefore left out; ours, and all locks, are not.
// One hand-over stands in gRPC's headers, so it is compiled, instrumented, into our programs: the
// status that ends a call. gRPC also leaves threads behind when the process ends.

extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }

extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:grpc::Status::Status(grpc::Status&&)\n"
         "race:grpc::Status::operator=(grpc::Status&&)\n"
         "thread:grpc_core::Thread::Thread\n";
}
