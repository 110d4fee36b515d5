// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_WATCH_RETRY_H_
#define RECLAIM_KUBE_WATCH_RETRY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace reclaim::kube {

// What a reflector does when a watch has ended.
enum class AfterWatch {
  kWatchAgain,        // at once, from the last version seen
  kWaitThenWatch,     // back off; what we know is still good
  kListAgain,         // at once: the server has forgotten the version we were at
  kWaitThenListAgain  // back off: events may have been missed
};

// How a watch went.
struct WatchEnd {
  absl::Status status;  // OK: ended cleanly by the server
  absl::Duration lasted = absl::ZeroDuration();
  bool opened = false;  // the server had answered 200
  int64_t events = 0;   // bookmarks included
  // It was opened after a wait for the server (kWaitThenWatch), not right after a list.
  bool after_wait = false;
};

// Pure. The rules (after client-go's reflector, with the differences named):
//   clean end by the server            watch again; but a watch that ended within 1 s without an
//                                      event is an error (a proxy that closes all): wait, list
//   opened, then silent for too long   watch again: a half-open connection, or a collection that
//                                      is quiet (the server sends it no bookmarks before its first
//                                      event); if the server is gone, the next watch tells
//   410 or Expired, as an answer or as an ERROR event inside a 200 stream: list again; at once
//                                      after a watch that was of use, or after a wait for the
//                                      server, which is back then and has forgotten our version;
//                                      else wait, so that a server that expires everything is not
//                                      asked in a loop
//   our version is in the server's future (its storage was restored): wait, list
//   no answer, reset, 401, 429, 502, 503, 504: wait, watch again (client-go lists after a 5xx;
//                                      a version that is too old then gets its 410)
//   anything else (403, 500, a line that is no JSON, a giant line): wait, list
AfterWatch DecideAfterWatch(const WatchEnd& end);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_WATCH_RETRY_H_
