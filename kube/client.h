// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_CLIENT_H_
#define RECLAIM_KUBE_CLIENT_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "kube/cancellation.h"
#include "kube/json.h"
#include "kube/resource.h"
#include "kube/transport.h"

namespace reclaim::kube {

// Told about each HTTP exchange, retries included: the source of rest_client_requests_total.
// Called on the requesting thread; must be thread-safe.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;

  // `code` is the HTTP status as text, or "<error>" when there was no answer (client-go's label).
  // `method` is GET, POST, PUT, PATCH or DELETE; a watch counts as GET when it opens or fails to.
  virtual void OnRequest(absl::string_view method, absl::string_view code) = 0;
};

// Name of one object; `name_space` is empty for a cluster-scoped one.
struct ObjectName {
  std::string name_space = {};
  std::string name = {};
};

struct ListOptions {
  std::string name_space = {};  // empty: all
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};     // "": consistent; "0": whatever the server's cache has
  int limit = 0;                         // items per page; 0: all in one answer
  std::string continue_token = {};       // metadata.continue of the page before
  Cancellation* cancellation = nullptr;  // ends the call at once, also its wait for a retry
};

struct WatchOptions {
  std::string name_space = {};
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};                   // events after this version
  absl::Duration server_timeout = absl::Seconds(300);  // the server ends the watch cleanly then
};

struct ApplyOptions {
  // Who owns the fields of the object. One stable name for each writer of the product.
  std::string field_manager = {};
  // Take fields over from other managers; what a controller wants. Without it that is a conflict.
  bool force = true;
};

struct DeleteOptions {
  std::string uid = {};               // precondition; empty: none
  std::string resource_version = {};  // precondition; empty: none
};

enum class PatchType { kMerge, kJson };  // strategic merge does not work for custom resources

// Typed access to one API server.
//
// Repeats a request only when the server says so: 429 or 5xx with Retry-After, at most
// kMaxAttempts times; a request that got no answer is repeated once when it is a GET. A write
// that got no answer may or may not have happened. All errors are those of status.h.
//
// Thread-safe; calls block. `transport` and `observer` must outlive the client.
class Client {
 public:
  static constexpr int kMaxAttempts = 10;
  static constexpr absl::Duration kMaxRetryAfter = absl::Seconds(60);

  explicit Client(Transport& transport, RequestObserver* observer = nullptr);

  absl::StatusOr<Json> Get(const GroupVersionResource& resource, const ObjectName& object);

  // One page. metadata.continue of the answer, when not empty, asks for the next.
  absl::StatusOr<Json> List(const GroupVersionResource& resource, const ListOptions& options);

  // POST. `object` carries apiVersion, kind and metadata; its namespace picks the collection.
  absl::StatusOr<Json> Create(const GroupVersionResource& resource, const Json& object);

  // PUT. With metadata.resourceVersion the write is refused (IsConflict) when somebody wrote since.
  absl::StatusOr<Json> Update(const GroupVersionResource& resource, const Json& object);
  absl::StatusOr<Json> UpdateStatus(const GroupVersionResource& resource, const Json& object);

  // Server-side apply: creates or updates. `object` is the full intent of this field manager:
  // apiVersion, kind, metadata.name (and namespace) and only fields it owns; a field left out that
  // it owned before is removed. Never metadata.managedFields (kInvalidArgument).
  absl::StatusOr<Json> Apply(const GroupVersionResource& resource, const Json& object,
                             const ApplyOptions& options);
  // The same on …/status; touches nothing but .status, and does not create.
  absl::StatusOr<Json> ApplyStatus(const GroupVersionResource& resource, const Json& object,
                                   const ApplyOptions& options);

  absl::StatusOr<Json> Patch(const GroupVersionResource& resource, const ObjectName& object,
                             PatchType type, const Json& patch, absl::string_view subresource = "");

  absl::Status Delete(const GroupVersionResource& resource, const ObjectName& object,
                      const DeleteOptions& options = {});

  // Opens a watch; see Transport::Stream for `stream`. OK: the server ended it cleanly. An HTTP
  // error becomes its status. Never retried here: the reflector knows what to do.
  absl::Status Watch(const GroupVersionResource& resource, const WatchOptions& options,
                     const StreamOptions& stream);

  // Wakes calls that wait for a Retry-After and cancels the transport. For process exit.
  void Shutdown();

 private:
  absl::StatusOr<Json> Exchange(absl::string_view what, const HttpRequest& request);
  absl::StatusOr<Json> ApplyTo(const GroupVersionResource& resource, const Json& object,
                               const ApplyOptions& options, absl::string_view subresource);
  absl::StatusOr<Json> Put(const GroupVersionResource& resource, const Json& object,
                           absl::string_view subresource);
  void Count(absl::string_view method, const absl::StatusOr<HttpResponse>& response);
  void LogWarnings(absl::string_view what, const HttpResponse& response);

  Transport& transport_;
  RequestObserver* const observer_;
  Cancellation cancellation_;
  absl::Mutex mutex_;
  // Deprecation warnings already logged; each once.
  absl::flat_hash_set<std::string> warned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_CLIENT_H_
