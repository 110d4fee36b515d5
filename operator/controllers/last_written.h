// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_LAST_WRITTEN_H_
#define RECLAIM_OPERATOR_CONTROLLERS_LAST_WRITTEN_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace reclaim::op {

// What a controller wrote and its cache may not have seen yet. A controller that compared with the
// cache alone would, in that gap, write the same again and move transition times.
//
// T has a resource_version. It is opaque, so "newer" cannot be asked: the written object counts as
// the newest until the cache shows that version, and for kTrust at most, in case the cache has gone
// past it (then somebody else wrote, and the controller looks again after kTrust).
//
// Times are Clock::Monotonic. Thread-safe.
template <typename T>
class LastWritten {
 public:
  static constexpr absl::Duration kTrust = absl::Seconds(10);

  void Remember(absl::string_view key, T written, absl::Duration now) {
    absl::MutexLock lock(&mutex_);
    entries_[key] = {std::make_shared<const T>(std::move(written)), now};
  }

  // The newest known state, given what the cache has (null: nothing).
  std::shared_ptr<const T> Newest(absl::string_view key, std::shared_ptr<const T> cached,
                                  absl::Duration now) {
    absl::MutexLock lock(&mutex_);
    const auto it = entries_.find(key);
    if (it == entries_.end()) return cached;
    const bool caught_up =
        cached != nullptr && cached->resource_version == it->second.value->resource_version;
    if (caught_up || now >= it->second.at + kTrust) {
      entries_.erase(it);
      return cached;
    }
    return it->second.value;
  }

  // For how long the written object still counts as the newest, as far as Newest has found so far;
  // nullopt: nothing is remembered. A controller that finds nothing to do must look again after
  // that: the cache may have gone past the write before, and no event says so any more.
  std::optional<absl::Duration> TrustLeft(absl::string_view key, absl::Duration now) {
    absl::MutexLock lock(&mutex_);
    const auto it = entries_.find(key);
    if (it == entries_.end()) return std::nullopt;
    return it->second.at + kTrust - now;
  }

  void Forget(absl::string_view key) {
    absl::MutexLock lock(&mutex_);
    entries_.erase(key);
  }

 private:
  struct Entry {
    std::shared_ptr<const T> value;
    absl::Duration at;
  };
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_LAST_WRITTEN_H_
