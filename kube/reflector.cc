// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "kube/line_splitter.h"
#include "kube/pager.h"
#include "kube/status.h"

namespace reclaim::kube {

Reflector::Reflector(Client& client, ReflectorOptions options, ReflectorSink& sink, Clock& clock)
    : client_(client),
      options_(std::move(options)),
      sink_(sink),
      clock_(clock),
      what_(options_.resource.group.empty()
                ? options_.resource.resource
                : absl::StrCat(options_.resource.resource, ".", options_.resource.group)),
      backoff_(options_.backoff) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Reflector::Stop() {
  cancellation_.Cancel();
  if (thread_.joinable()) thread_.join();
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
}

bool Reflector::HasSynced() const {
  absl::MutexLock lock(&mutex_);
  return stats_.synced;
}

bool Reflector::WaitForSync(absl::Duration timeout) const {
  const auto settled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stats_.synced || stopped_;
  };
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&settled), timeout);
  return stats_.synced;
}

ReflectorStats Reflector::stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

void Reflector::Run() {
  bool list = true;
  bool waited = false;  // before the watch that comes now
  while (!cancellation_.cancelled()) {
    AfterWatch next = AfterWatch::kWaitThenListAgain;
    absl::Status status;
    const absl::string_view action = list ? "list" : "watch";
    if (list) {
      status = ListOnce();
      if (status.ok()) {
        list = waited = false;
        continue;
      }
    } else {
      WatchEnd end = WatchOnce();
      end.after_wait = waited;
      status = end.status;
      next = DecideAfterWatch(end);
      if (status.ok() && next == AfterWatch::kWaitThenListAgain) {
        status = absl::UnavailableError("the watch ended at once without an event");
      }
    }
    if (cancellation_.cancelled()) break;
    list = next == AfterWatch::kListAgain || next == AfterWatch::kWaitThenListAgain;
    waited = next == AfterWatch::kWaitThenWatch;
    if (next == AfterWatch::kWatchAgain) continue;
    absl::Duration wait = absl::ZeroDuration();
    if (next != AfterWatch::kListAgain) {
      wait = backoff_.Next(clock_.Monotonic(), absl::Uniform(random_, 0.0, 1.0));
      if (const std::optional<ApiError> error = GetApiError(status); error && error->retry_after) {
        wait = std::max(wait, *error->retry_after);
      }
    }
    OnError(action, status, wait);
    cancellation_.Sleep(wait);
  }
}

absl::Status Reflector::ListOnce() {
  ListOptions list;
  list.name_space = options_.name_space;
  list.label_selector = options_.label_selector;
  list.field_selector = options_.field_selector;
  list.limit = options_.page_size;
  list.cancellation = &cancellation_;
  // The first list takes what the server's cache has; later ones nothing older than we have seen.
  list.resource_version = resource_version_.empty() ? "0" : resource_version_;
  if (consistent_list_) list.resource_version.clear();
  const auto on_item = [this](const Json& item) {
    sink_.ListItem(item);
    absl::MutexLock lock(&mutex_);
    stats_.last_contact = clock_.Now();
  };
  const ListReceiver receiver{.on_restart = [this] { sink_.BeginList(); }, .on_item = on_item};
  absl::StatusOr<std::string> version = ListAll(client_, options_.resource, list, receiver);
  // The server no longer, or not yet, has that version: ask for the newest, at once, but once.
  if (!consistent_list_ &&
      (IsGone(version.status()) || IsResourceVersionTooLarge(version.status()))) {
    consistent_list_ = true;
    list.resource_version.clear();
    version = ListAll(client_, options_.resource, list, receiver);
  }
  if (!version.ok()) return version.status();
  sink_.EndList();
  resource_version_ = *std::move(version);
  consistent_list_ = false;
  OnSuccess("list");
  return absl::OkStatus();
}

WatchEnd Reflector::WatchOnce() {
  WatchOptions watch;
  watch.name_space = options_.name_space;
  watch.label_selector = options_.label_selector;
  watch.field_selector = options_.field_selector;
  watch.resource_version = resource_version_;
  watch.server_timeout = options_.watch_min + (options_.watch_max - options_.watch_min) *
                                                  absl::Uniform(random_, 0.0, 1.0);

  WatchEnd end;
  LineSplitter splitter(options_.max_line_bytes);
  const auto on_line = [&](absl::string_view line) -> absl::Status {
    const absl::StatusOr<WatchEvent> event = ParseWatchEvent(line);
    return event.ok() ? OnEvent(*event, end.events) : event.status();
  };
  StreamOptions stream;
  stream.on_open = [&] {
    end.opened = true;
    OnSuccess("watch");
  };
  stream.on_data = [&](absl::string_view piece) { return splitter.Append(piece, on_line); };
  stream.idle_timeout = options_.idle_timeout;
  stream.cancellation = &cancellation_;
  const absl::Duration start = clock_.Monotonic();
  end.status = client_.Watch(options_.resource, watch, stream);
  end.lasted = clock_.Monotonic() - start;
  return end;
}

absl::Status Reflector::OnEvent(const WatchEvent& event, int64_t& events) {
  switch (event.type) {
    case WatchEvent::Type::kAdded:
    case WatchEvent::Type::kModified:
      sink_.Upsert(event.object);
      break;
    case WatchEvent::Type::kDeleted:
      sink_.Delete(event.object);
      break;
    case WatchEvent::Type::kBookmark:
      break;
  }
  ++events;
  const std::string version = ResourceVersionOf(event.object);
  if (!version.empty()) resource_version_ = version;
  absl::MutexLock lock(&mutex_);
  ++(event.type == WatchEvent::Type::kBookmark ? stats_.bookmarks : stats_.events);
  stats_.last_contact = clock_.Now();
  return absl::OkStatus();
}

void Reflector::OnError(absl::string_view action, const absl::Status& status,
                        absl::Duration retry_in) {
  bool first = false;
  {
    absl::MutexLock lock(&mutex_);
    ++(action == "list" ? stats_.list_errors : stats_.watch_errors);
    // The same trouble again is counted, not logged.
    first = stats_.last_error.code() != status.code();
    stats_.last_error = status;
  }
  if (first) {
    LogWarning(absl::StrCat(action, " failed"), {{"resource", what_},
                                                 {"error", status.message()},
                                                 {"retry_in", absl::FormatDuration(retry_in)}});
  }
}

void Reflector::OnSuccess(absl::string_view action) {
  absl::Status was;
  int64_t errors = 0;
  {
    absl::MutexLock lock(&mutex_);
    ++(action == "list" ? stats_.lists : stats_.watches);
    if (action == "list") stats_.synced = true;
    stats_.last_contact = clock_.Now();
    was = std::exchange(stats_.last_error, absl::OkStatus());
    errors = stats_.list_errors + stats_.watch_errors;
  }
  if (!was.ok()) {
    LogInfo(absl::StrCat(action, " works again"), {{"resource", what_}, {"errors_so_far", errors}});
  }
}

}  // namespace reclaim::kube
