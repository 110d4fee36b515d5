// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TRANSPORT_H_
#define RECLAIM_KUBE_TRANSPORT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/cancellation.h"
#include "kube/config.h"

namespace reclaim::kube {

// Call first thing in every main(): a peer that closes a TLS connection would otherwise end the
// process with SIGPIPE at the next write (cpp-httplib only ignores it in its server). A handler of
// the program's own is left alone. NewTransport() calls it too.
void IgnoreSigpipe();

struct HttpRequest {
  std::string method = "GET";
  std::string path = {};  // absolute, already escaped; the config's path prefix is put before it
  std::vector<std::pair<std::string, std::string>> query =
      {};  // unescaped; escaped by the transport
  std::string accept = "application/json";
  std::string content_type = {};  // of `body`
  std::string body = {};
  absl::Duration timeout = absl::Seconds(30);  // whole exchange of Request(); not of Stream()
  Cancellation* cancellation = nullptr;        // ends Request() at once with kCancelled
};

struct HttpResponse {
  int status = 0;
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::string body;

  // The first value of a header (`name` in lower case), or "".
  std::string Header(const std::string& name) const;
};

// A long answer, piece by piece.
struct StreamOptions {
  // The answer has begun and is 200; its body follows. May be null.
  std::function<void()> on_open = {};
  // A piece of the body; borders are arbitrary. A status that is not OK ends the stream with it.
  std::function<absl::Status(absl::string_view piece)> on_data = {};
  // No byte for this long ends the stream with kDeadlineExceeded: this is how a half-open
  // connection is noticed when even TCP sees nothing wrong.
  absl::Duration idle_timeout = absl::Seconds(90);
  // Ends the stream at once with kCancelled.
  Cancellation* cancellation = nullptr;
};

// HTTP to one API server.
//
// Errors are transport errors only (kUnavailable, kDeadlineExceeded, kCancelled, and
// kUnauthenticated for a server whose certificate is not the right one); any HTTP status is a
// response. Implementations are thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual absl::StatusOr<HttpResponse> Request(const HttpRequest& request) = 0;

  // GET on a connection of its own. A 200 goes to options.on_data and the returned body is empty;
  // of any other status the body is returned (at most 1 MiB). OK means the server ended the
  // answer cleanly.
  virtual absl::StatusOr<HttpResponse> Stream(const HttpRequest& request,
                                              const StreamOptions& options) = 0;

  // Ends what is under way with kCancelled, and everything asked for later. For process exit.
  virtual void Shutdown() = 0;
};

struct TransportOptions {
  std::string user_agent = "reclaim/0.1 (linux)";
  int max_connections = 8;  // requests in flight, streams not counted; more wait for their turn
  absl::Duration connect_timeout = absl::Seconds(5);
  // The API server closes idle connections after 90 s; one idle for longer than this is not reused.
  absl::Duration max_idle = absl::Seconds(60);
  size_t max_response_bytes = 64 << 20;
};

// Transport on cpp-httplib. One connection carries one request at a time; a small pool keeps them
// alive. Before a connection is used again it is looked at: closed by the peer, idle for too long
// or made with certificates that have since been replaced means a new one. A GET that fails on a
// reused connection is sent once more on a new one; writes never are.
//
// TLS 1.2 or newer; the certificate and the name are verified during the handshake, so neither
// token nor client certificate reaches a wrong server. TCP keep-alive and TCP_USER_TIMEOUT (30 s)
// are set on each connection. `clock` must outlive the transport.
//
// kInvalidArgument or kNotFound when certificates or token cannot be loaded.
absl::StatusOr<std::unique_ptr<Transport>> NewTransport(const ClientConfig& config, Clock& clock,
                                                        const TransportOptions& options = {});

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_TRANSPORT_H_
