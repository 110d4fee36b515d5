// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_CONNECTION_H_
#define RECLAIM_KUBE_CONNECTION_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/transport.h"

namespace httplib {
class ClientImpl;
}

namespace reclaim::kube {

// One TCP (and TLS) connection to the API server that carries one request at a time: the only
// file that knows cpp-httplib. It connects when first used.
//
// One thread sends; Abort() may come from any thread.
class Connection {
 public:
  // kInvalidArgument when certificates cannot be used.
  static absl::StatusOr<std::unique_ptr<Connection>> New(
      const ClientConfig& config, std::shared_ptr<const TlsMaterial> material,
      absl::Duration connect_timeout);
  ~Connection();

  struct Exchange {
    std::string method;
    std::string target;                                        // escaped path and query
    std::vector<std::pair<std::string, std::string>> headers;  // no CR or LF in them
    std::string body;
    // No byte in or out for this long ends the exchange.
    absl::Duration io_timeout;
    // Status and headers have come. Not OK ends the exchange with that status.
    std::function<absl::Status(const HttpResponse& head)> on_head;
    // A piece of the body; same.
    std::function<absl::Status(absl::string_view piece)> on_data;
  };

  // Returns OK when the answer has come to its end. kUnavailable, kDeadlineExceeded (io_timeout),
  // kUnauthenticated (wrong server), kCancelled (Abort), or what a callback returned.
  absl::Status Send(const Exchange& exchange);

  // Ends the exchange under way at whatever point it is, and every later one.
  void Abort();

  // Still connected, and the peer has neither closed nor sent anything unasked. cpp-httplib's own
  // test takes a pending TLS close_notify for life.
  bool Reusable() const;

  uint64_t generation() const { return material_->generation; }

 private:
  Connection(const ClientConfig& config, std::shared_ptr<const TlsMaterial> material);

  // On a socket that is about to connect: sets TCP options and keeps a duplicate for Abort.
  void OnSocket(int socket);
  absl::Status ErrorStatus(int httplib_error, absl::Duration waited, absl::Duration io_timeout);

  const std::string peer_;  // "host:port", for messages
  const std::shared_ptr<const TlsMaterial> material_;
  absl::Duration connect_timeout_;
  std::string verify_error_;  // why the server's certificate was refused
  std::unique_ptr<httplib::ClientImpl> http_;

  absl::Mutex mutex_;
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  // Duplicate of the socket: shutting it down is safe whatever cpp-httplib does with its own
  // descriptor at the same time. -1: none.
  int abort_fd_ ABSL_GUARDED_BY(mutex_) = -1;
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_CONNECTION_H_
