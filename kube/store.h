// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_STORE_H_
#define RECLAIM_KUBE_STORE_H_

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/log.h"
#include "kube/json.h"
#include "kube/reflector_sink.h"

namespace reclaim::kube {

// A local copy of one collection, kept by a Reflector. What is kept of each object is T, made by a
// projection: a Node is several KiB on the wire and a few words in here.
//
//   Store<NodeInfo> nodes(ProjectNode);
//   nodes.AddHandler({.added = ..., .updated = ..., .deleted = ...});
//   Reflector reflector(client, {.resource = Nodes()}, nodes, clock);
//
// An object that the projection refuses (or throws at) is logged and counted; the last good version
// of it stays.
//
// Thread-safe for readers. Keys are "namespace/name" or "name" (KeyOf).
template <typename T>
class Store final : public ReflectorSink {
 public:
  using Pointer = std::shared_ptr<const T>;
  using Projection = std::function<absl::StatusOr<T>(const Json& object)>;

  // Called on the reflector's thread after the store has changed, without any lock held, so it may
  // read the store. It must not block: hand the key to a work queue. Members may be null.
  struct Handler {
    std::function<void(absl::string_view key, const Pointer& now)> added = {};
    // Not called when nothing changed: the same resource version, or (when T can be compared)
    // an equal projection.
    std::function<void(absl::string_view key, const Pointer& before, const Pointer& now)> updated =
        {};
    // `last` is the last state known. Found missing by a list after a gap in the watch, the object
    // may have changed after that: then final_state_known is false.
    std::function<void(absl::string_view key, const Pointer& last, bool final_state_known)>
        deleted = {};
  };

  explicit Store(Projection project) : project_(std::move(project)) {}

  // Before the reflector starts.
  void AddHandler(Handler handler) { handlers_.push_back(std::move(handler)); }

  // nullptr when there is none.
  Pointer Get(absl::string_view key) const {
    absl::ReaderMutexLock lock(&mutex_);
    auto it = entries_.find(key);
    return it == entries_.end() ? nullptr : it->second.value;
  }

  // Everything, in the order of the keys.
  std::vector<std::pair<std::string, Pointer>> List() const {
    absl::ReaderMutexLock lock(&mutex_);
    std::vector<std::pair<std::string, Pointer>> all;
    all.reserve(entries_.size());
    for (const auto& [key, entry] : entries_) all.emplace_back(key, entry.value);
    return all;
  }

  size_t size() const {
    absl::ReaderMutexLock lock(&mutex_);
    return entries_.size();
  }

  // True once a first list is complete and its handlers have returned. Never false again.
  bool HasSynced() const {
    absl::ReaderMutexLock lock(&mutex_);
    return synced_;
  }

  // Objects that the projection refused so far.
  int64_t projection_failures() const {
    absl::ReaderMutexLock lock(&mutex_);
    return projection_failures_;
  }

  // ReflectorSink.
  void BeginList() override { listed_.clear(); }

  void ListItem(const Json& object) override {
    const std::string key = KeyOf(object);
    Entry entry = Project(key, object);
    if (entry.value == nullptr) return;
    listed_[key] = std::move(entry);
  }

  void EndList() override {
    Entries before;
    {
      absl::MutexLock lock(&mutex_);
      before.swap(entries_);
      entries_ = std::move(listed_);
    }
    listed_.clear();
    // Only this thread writes entries_, so it may read them without the lock held across handlers.
    for (const auto& [key, value] : Copy()) {
      auto it = before.find(key);
      if (it == before.end()) {
        NotifyAdded(key, value.value);
      } else if (it->second.uid != value.uid) {
        NotifyDeleted(key, it->second.value, /*final_state_known=*/false);
        NotifyAdded(key, value.value);
      } else {
        NotifyUpdated(key, it->second, value);
      }
      if (it != before.end()) before.erase(it);
    }
    for (const auto& [key, entry] : before) {
      NotifyDeleted(key, entry.value, /*final_state_known=*/false);
    }
    absl::MutexLock lock(&mutex_);
    synced_ = true;
  }

  void Upsert(const Json& object) override {
    const std::string key = KeyOf(object);
    Entry now = Project(key, object);
    if (now.value == nullptr) return;
    Entry before;
    {
      absl::MutexLock lock(&mutex_);
      Entry& slot = entries_[key];
      before = std::exchange(slot, now);
    }
    if (before.value == nullptr) {
      NotifyAdded(key, now.value);
    } else if (before.uid != now.uid) {
      NotifyDeleted(key, before.value, /*final_state_known=*/false);
      NotifyAdded(key, now.value);
    } else {
      NotifyUpdated(key, before, now);
    }
  }

  void Delete(const Json& object) override {
    const std::string key = KeyOf(object);
    absl::StatusOr<T> last = TryProject(object);
    Pointer value;
    {
      absl::MutexLock lock(&mutex_);
      auto it = entries_.find(key);
      if (it == entries_.end()) return;
      value = it->second.value;
      entries_.erase(it);
    }
    const bool known = last.ok();
    if (known) value = std::make_shared<const T>(*std::move(last));
    NotifyDeleted(key, value, known);
  }

 private:
  struct Entry {
    Pointer value;
    std::string uid;
    std::string resource_version;
  };
  using Entries = absl::btree_map<std::string, Entry>;

  Entries Copy() const {
    absl::ReaderMutexLock lock(&mutex_);
    return entries_;
  }

  // nlohmann's accessors throw; an object from the wire must not end the process by that.
  absl::StatusOr<T> TryProject(const Json& object) const {
    try {
      return project_(object);
    } catch (const std::exception& error) {
      return absl::InvalidArgumentError(error.what());
    }
  }

  // The entry of `object`; the present one when the projection refuses it (value null: none).
  Entry Project(const std::string& key, const Json& object) {
    absl::StatusOr<T> projected = TryProject(object);
    if (projected.ok()) {
      return {std::make_shared<const T>(*std::move(projected)), UidOf(object),
              ResourceVersionOf(object)};
    }
    LogWarning("object not understood, keeping its last good version",
               {{"key", key}, {"error", projected.status().message()}});
    absl::MutexLock lock(&mutex_);
    ++projection_failures_;
    auto it = entries_.find(key);
    return it == entries_.end() ? Entry{} : it->second;
  }

  void NotifyAdded(absl::string_view key, const Pointer& now) {
    for (const Handler& handler : handlers_) {
      if (handler.added) handler.added(key, now);
    }
  }

  void NotifyUpdated(absl::string_view key, const Entry& before, const Entry& now) {
    if (!before.resource_version.empty() && before.resource_version == now.resource_version) return;
    if constexpr (std::equality_comparable<T>) {
      if (*before.value == *now.value) return;
    }
    for (const Handler& handler : handlers_) {
      if (handler.updated) handler.updated(key, before.value, now.value);
    }
  }

  void NotifyDeleted(absl::string_view key, const Pointer& last, bool final_state_known) {
    for (const Handler& handler : handlers_) {
      if (handler.deleted) handler.deleted(key, last, final_state_known);
    }
  }

  const Projection project_;
  std::vector<Handler> handlers_;  // fixed once the reflector runs
  Entries listed_;                 // of the list under way; reflector's thread only

  mutable absl::Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);
  bool synced_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t projection_failures_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The projection that keeps the whole object but for metadata.managedFields, often its largest
// part and of use to nobody here.
absl::StatusOr<Json> KeepWholeObject(const Json& object);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_STORE_H_
