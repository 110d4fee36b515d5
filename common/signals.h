// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_SIGNALS_H_
#define RECLAIM_COMMON_SIGNALS_H_

#include <signal.h>

#include <optional>

#include "absl/time/time.h"

namespace reclaim {

// A write to a closed connection is an error code, not the end of the process (cpp-httplib and
// OpenSSL write without MSG_NOSIGNAL). First line of every main().
void IgnoreSigpipe();

// Turns SIGTERM and SIGINT into a return value of Wait: no handler runs, so nothing is async-signal
// unsafe. Construct one before the first thread (threads inherit the blocked mask), in main().
//
//   IgnoreSigpipe();
//   SignalWaiter signals;
//   ... start threads ...
//   LogInfo("stopping", {{"signal", signals.Wait()}});
class SignalWaiter {
 public:
  // Blocks the two signals in the calling thread.
  SignalWaiter();
  // Restores the calling thread's mask.
  ~SignalWaiter();
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

  // Waits for SIGTERM or SIGINT and returns its number.
  int Wait();

  // As Wait, at most `timeout`; nullopt when none came.
  std::optional<int> WaitFor(absl::Duration timeout);

  // Makes Wait return SIGTERM, from any thread: how a part that cannot go on (a lost lease) ends
  // the process in the orderly way.
  static void RequestStop();

 private:
  sigset_t signals_;
  sigset_t previous_mask_;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_SIGNALS_H_
