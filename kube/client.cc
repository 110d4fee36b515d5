// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "kube/status.h"

namespace reclaim::kube {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kApplyPatch[] = "application/apply-patch+yaml";

using Query = std::vector<std::pair<std::string, std::string>>;

void AddIfSet(Query& query, const char* name, const std::string& value) {
  if (!value.empty()) query.emplace_back(name, value);
}

// "GET nodes/node1": for messages.
std::string What(absl::string_view verb, const GroupVersionResource& resource,
                 absl::string_view name_space, absl::string_view name,
                 absl::string_view subresource = "") {
  std::string what = absl::StrCat(verb, " ", resource.resource);
  if (!resource.group.empty()) absl::StrAppend(&what, ".", resource.group);
  if (!name.empty()) absl::StrAppend(&what, " ", MakeKey(name_space, name));
  if (!subresource.empty()) absl::StrAppend(&what, " (", subresource, ")");
  return what;
}

// Retry-After in seconds; the other form, a date, the API server never sends.
std::optional<absl::Duration> RetryAfter(const HttpResponse& response) {
  int seconds = 0;
  if (!absl::SimpleAtoi(response.Header("retry-after"), &seconds) || seconds < 0) {
    return std::nullopt;
  }
  return absl::Seconds(seconds);
}

absl::Status CheckObject(absl::string_view what, const Json& object, bool apply) {
  if (StringAt(object, {"apiVersion"}).empty() || StringAt(object, {"kind"}).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": the object needs apiVersion and kind"));
  }
  if (apply && Find(object, {"metadata", "managedFields"}) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": an applied object may not carry metadata.managedFields"));
  }
  return absl::OkStatus();
}

absl::Status WithContext(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

}  // namespace

Client::Client(Transport& transport, RequestObserver* observer)
    : transport_(transport), observer_(observer) {}

void Client::Count(absl::string_view method, const absl::StatusOr<HttpResponse>& response) {
  if (observer_ == nullptr) return;
  observer_->OnRequest(method, response.ok() ? absl::StrCat(response->status) : "<error>");
}

void Client::LogWarnings(absl::string_view what, const HttpResponse& response) {
  const auto [begin, end] = response.headers.equal_range("warning");
  for (auto it = begin; it != end; ++it) {
    if (!absl::StartsWith(it->second, "299 ")) continue;
    {
      absl::MutexLock lock(&mutex_);
      if (!warned_.insert(it->second).second) continue;
    }
    LogWarning("API server warns", {{"request", what}, {"warning", it->second}});
  }
}

absl::StatusOr<Json> Client::Exchange(absl::string_view what, const HttpRequest& request) {
  bool may_repeat_unanswered = request.method == "GET";
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<HttpResponse> response = transport_.Request(request);
    Count(request.method, response);
    if (!response.ok()) {
      if (!std::exchange(may_repeat_unanswered, false) || !absl::IsUnavailable(response.status())) {
        return WithContext(what, response.status());
      }
      continue;
    }
    LogWarnings(what, *response);
    if (response->status >= 200 && response->status < 300) {
      return response->body.empty() ? absl::StatusOr<Json>(Json::object())
                                    : ParseJson(response->body, what);
    }
    const std::optional<absl::Duration> retry_after = RetryAfter(*response);
    absl::Status status = MakeApiStatus(what, response->status, response->body, retry_after);
    const bool repeatable = response->status == 429 || response->status >= 500;
    if (!repeatable || !retry_after.has_value() || attempt >= kMaxAttempts) return status;
    const Cancellation& until =
        request.cancellation != nullptr ? *request.cancellation : cancellation_;
    if (until.Sleep(std::min(*retry_after, kMaxRetryAfter))) return status;
  }
}

absl::StatusOr<Json> Client::Get(const GroupVersionResource& resource, const ObjectName& object) {
  HttpRequest request;
  request.path = ResourcePath(resource, object.name_space, object.name);
  return Exchange(What("GET", resource, object.name_space, object.name), request);
}

absl::StatusOr<Json> Client::List(const GroupVersionResource& resource,
                                  const ListOptions& options) {
  HttpRequest request;
  request.path = ResourcePath(resource, options.name_space);
  AddIfSet(request.query, "labelSelector", options.label_selector);
  AddIfSet(request.query, "fieldSelector", options.field_selector);
  AddIfSet(request.query, "resourceVersion", options.resource_version);
  if (options.limit > 0) request.query.emplace_back("limit", absl::StrCat(options.limit));
  AddIfSet(request.query, "continue", options.continue_token);
  request.cancellation = options.cancellation;
  return Exchange(What("LIST", resource, options.name_space, ""), request);
}

absl::StatusOr<Json> Client::Create(const GroupVersionResource& resource, const Json& object) {
  const std::string name_space = NamespaceOf(object);
  const std::string what = What("CREATE", resource, name_space, NameOf(object));
  absl::Status valid = CheckObject(what, object, /*apply=*/false);
  if (!valid.ok()) return valid;
  HttpRequest request;
  request.method = "POST";
  request.path = ResourcePath(resource, name_space);
  request.content_type = kJson;
  request.body = DumpJson(object);
  return Exchange(what, request);
}

absl::StatusOr<Json> Client::Put(const GroupVersionResource& resource, const Json& object,
                                 absl::string_view subresource) {
  const std::string name_space = NamespaceOf(object);
  const std::string what = What("UPDATE", resource, name_space, NameOf(object), subresource);
  absl::Status valid = CheckObject(what, object, /*apply=*/false);
  if (!valid.ok()) return valid;
  HttpRequest request;
  request.method = "PUT";
  request.path = ResourcePath(resource, name_space, NameOf(object), subresource);
  request.content_type = kJson;
  request.body = DumpJson(object);
  return Exchange(what, request);
}

absl::StatusOr<Json> Client::Update(const GroupVersionResource& resource, const Json& object) {
  return Put(resource, object, "");
}

absl::StatusOr<Json> Client::UpdateStatus(const GroupVersionResource& resource,
                                          const Json& object) {
  return Put(resource, object, "status");
}

absl::StatusOr<Json> Client::ApplyTo(const GroupVersionResource& resource, const Json& object,
                                     const ApplyOptions& options, absl::string_view subresource) {
  const std::string name_space = NamespaceOf(object);
  const std::string what = What("APPLY", resource, name_space, NameOf(object), subresource);
  absl::Status valid = CheckObject(what, object, /*apply=*/true);
  if (!valid.ok()) return valid;
  HttpRequest request;
  request.method = "PATCH";
  request.path = ResourcePath(resource, name_space, NameOf(object), subresource);
  request.query = {{"fieldManager", options.field_manager}};
  if (options.force) request.query.emplace_back("force", "true");
  request.content_type = kApplyPatch;
  request.body = DumpJson(object);
  return Exchange(what, request);
}

absl::StatusOr<Json> Client::Apply(const GroupVersionResource& resource, const Json& object,
                                   const ApplyOptions& options) {
  return ApplyTo(resource, object, options, "");
}

absl::StatusOr<Json> Client::ApplyStatus(const GroupVersionResource& resource, const Json& object,
                                         const ApplyOptions& options) {
  return ApplyTo(resource, object, options, "status");
}

absl::StatusOr<Json> Client::Patch(const GroupVersionResource& resource, const ObjectName& object,
                                   PatchType type, const Json& patch,
                                   absl::string_view subresource) {
  HttpRequest request;
  request.method = "PATCH";
  request.path = ResourcePath(resource, object.name_space, object.name, subresource);
  request.content_type =
      type == PatchType::kMerge ? "application/merge-patch+json" : "application/json-patch+json";
  request.body = DumpJson(patch);
  return Exchange(What("PATCH", resource, object.name_space, object.name, subresource), request);
}

absl::Status Client::Delete(const GroupVersionResource& resource, const ObjectName& object,
                            const DeleteOptions& options) {
  HttpRequest request;
  request.method = "DELETE";
  request.path = ResourcePath(resource, object.name_space, object.name);
  Json preconditions = Json::object();
  if (!options.uid.empty()) preconditions["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    preconditions["resourceVersion"] = options.resource_version;
  }
  if (!preconditions.empty()) {
    request.content_type = kJson;
    request.body = DumpJson(
        {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", preconditions}});
  }
  return Exchange(What("DELETE", resource, object.name_space, object.name), request).status();
}

absl::Status Client::Watch(const GroupVersionResource& resource, const WatchOptions& options,
                           const StreamOptions& stream) {
  HttpRequest request;
  request.path = ResourcePath(resource, options.name_space);
  request.query = {{"watch", "1"}, {"allowWatchBookmarks", "true"}};
  AddIfSet(request.query, "labelSelector", options.label_selector);
  AddIfSet(request.query, "fieldSelector", options.field_selector);
  AddIfSet(request.query, "resourceVersion", options.resource_version);
  request.query.emplace_back("timeoutSeconds",
                             absl::StrCat(absl::ToInt64Seconds(options.server_timeout)));
  const std::string what = What("WATCH", resource, options.name_space, "");
  bool opened = false;
  StreamOptions counted = stream;
  counted.on_open = [&] {
    opened = true;
    if (observer_ != nullptr) observer_->OnRequest("GET", "200");
    if (stream.on_open) stream.on_open();
  };
  const absl::StatusOr<HttpResponse> response = transport_.Stream(request, counted);
  if (!opened) Count("GET", response);
  if (!response.ok()) {
    // What ended it may be the consumer's own verdict with a payload: keep that as it is.
    return GetApiError(response.status()).has_value() ? response.status()
                                                      : WithContext(what, response.status());
  }
  LogWarnings(what, *response);
  if (response->status == 200) return absl::OkStatus();
  return MakeApiStatus(what, response->status, response->body, RetryAfter(*response));
}

void Client::Shutdown() {
  cancellation_.Cancel();
  transport_.Shutdown();
}

}  // namespace reclaim::kube
