// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_REFLECTOR_H_
#define RECLAIM_KUBE_REFLECTOR_H_

#include <cstdint>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/backoff.h"
#include "kube/cancellation.h"
#include "kube/client.h"
#include "kube/reflector_sink.h"
#include "kube/resource.h"
#include "kube/watch_event.h"
#include "kube/watch_retry.h"

namespace reclaim::kube {

// The defaults are client-go's; only `resource` has to be given.
struct ReflectorOptions {
  GroupVersionResource resource = {};
  std::string name_space = {};  // empty: all
  std::string label_selector = {};
  std::string field_selector = {};

  int page_size = 500;
  // The server ends each watch after a time drawn from this range, so that watches spread over
  // API servers and over time.
  absl::Duration watch_min = absl::Seconds(300);
  absl::Duration watch_max = absl::Seconds(600);
  // Bookmarks come about once a minute and the server keeps 75 s of history: silence for longer
  // means a dead connection or a collection without any event yet, which gets no bookmarks;
  // noticing a dead one later would cost a full list.
  absl::Duration idle_timeout = absl::Seconds(90);
  BackoffOptions backoff = {};
  size_t max_line_bytes = 8 << 20;
};

// Counters since the start; the source of metrics and of the health of a cache.
struct ReflectorStats {
  bool synced = false;
  int64_t lists = 0;  // complete ones
  int64_t list_errors = 0;
  int64_t watches = 0;       // opened ones
  int64_t watch_errors = 0;  // a clean end by the server and mere silence are none
  int64_t events = 0;        // ADDED, MODIFIED, DELETED
  int64_t bookmarks = 0;
  absl::Time last_contact = absl::InfinitePast();  // last list page or watch event received
  absl::Status last_error;                         // OK after the next list or watch that opens
};

// Keeps a sink (a Store) equal to a collection of the API: list once, then watch from there, and
// list again only when the server no longer knows where we were. What comes after each way a watch
// can end is in watch_retry.h.
//
// One thread for each reflector, from Start() to Stop(). Public functions are thread-safe.
// `client`, `sink` and `clock` must outlive it.
class Reflector {
 public:
  Reflector(Client& client, ReflectorOptions options, ReflectorSink& sink, Clock& clock);
  ~Reflector();  // Stop()

  // Once.
  void Start();

  // Ends the list or watch under way, whatever it waits for, and joins the thread.
  void Stop();

  // The first list is complete and the sink has taken it in.
  bool HasSynced() const;

  // Waits for that; false after `timeout` or Stop().
  bool WaitForSync(absl::Duration timeout) const;

  ReflectorStats stats() const;

 private:
  void Run();
  // Lists into the sink and remembers the version. Retries at once where the server asks for it.
  absl::Status ListOnce();
  // One watch from the remembered version.
  WatchEnd WatchOnce();
  absl::Status OnEvent(const WatchEvent& event, int64_t& events);
  void OnError(absl::string_view action, const absl::Status& status, absl::Duration retry_in);
  void OnSuccess(absl::string_view action);

  Client& client_;
  const ReflectorOptions options_;
  ReflectorSink& sink_;
  Clock& clock_;
  const std::string what_;  // "nodes", "reclaimpolicies.kswapd.dev": for logs

  // The reflector's thread only.
  absl::BitGen random_;
  Backoff backoff_;
  std::string resource_version_;  // of the last list or event; "" before the first list
  bool consistent_list_ = false;  // the next list must ask etcd, not the cache

  Cancellation cancellation_;
  std::thread thread_;
  mutable absl::Mutex mutex_;
  ReflectorStats stats_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_REFLECTOR_H_
