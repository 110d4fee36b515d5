// SPDX-License-Identifier: Apache-2.0
#include "common/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/time/clock.h"

namespace reclaim {

void IgnoreSigpipe() { signal(SIGPIPE, SIG_IGN); }

SignalWaiter::SignalWaiter() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, &previous_mask_);
}

SignalWaiter::~SignalWaiter() { pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr); }

int SignalWaiter::Wait() {
  while (true) {
    const int received = sigwaitinfo(&signals_, nullptr);
    if (received > 0) return received;
    // EINTR: a debugger, or a signal that someone else handles.
  }
}

std::optional<int> SignalWaiter::WaitFor(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    const timespec left = absl::ToTimespec(std::max(deadline - absl::Now(), absl::ZeroDuration()));
    const int received = sigtimedwait(&signals_, nullptr, &left);
    if (received > 0) return received;
    if (errno == EAGAIN) return std::nullopt;
  }
}

void SignalWaiter::RequestStop() { kill(getpid(), SIGTERM); }

}  // namespace reclaim
