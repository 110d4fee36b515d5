// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_HTTP_ENDPOINT_H_
#define RECLAIM_COMMON_HTTP_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reclaim {

// What a handler may know of a request. Only GET and HEAD reach a handler, and never a body.
struct HttpRequest {
  // Whether the query has the parameter, with or without a value: "?verbose".
  std::function<bool(absl::string_view name)> has_parameter;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpRoute {
  // Literal: letters, digits, '/', '-' and '_'; compared with the whole path.
  std::string path;
  // Called on one of the endpoint's threads, several at the same time. A throw becomes a 500
  // without its text, which goes to the log.
  std::function<HttpResponse(const HttpRequest&)> handler;
};

struct HttpEndpointOptions {
  std::string name;  // in logs and errors: "metrics"
  std::string
      address;  // "HOST:PORT", "[IPV6]:PORT" or ":PORT" (every address); port 0 = any free one
  int threads = 2;
  // Accepted connections that may wait for a thread; further ones wait in the kernel's backlog.
  int max_waiting = 16;
};

// A small read-only HTTP server for probes and scrapes, hardened against what cpp-httplib leaves
// open: one request a connection, no bodies, bounded threads and queue, five-second timeouts.
// It cannot bound the length of a request's headers: keep it inside the cluster (NetworkPolicy).
//
// Serves from Start until destroyed; the destructor waits for running handlers.
// Threads: one that accepts, `threads` that serve.
class HttpEndpoint {
 public:
  // Binds and serves. Error: InvalidArgument (the address, or a route), or what bind(2) said,
  // with the address.
  static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Start(const HttpEndpointOptions& options,
                                                             std::vector<HttpRoute> routes);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  int port() const;

 private:
  class Impl;
  explicit HttpEndpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_HTTP_ENDPOINT_H_
