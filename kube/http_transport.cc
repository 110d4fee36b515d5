// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/connection.h"
#include "kube/connection_pool.h"
#include "kube/credentials.h"
#include "kube/resource.h"
#include "kube/transport.h"

namespace reclaim::kube {
namespace {

// Body kept of an answer to Stream() that is not 200.
constexpr size_t kMaxErrorBodyBytes = 1 << 20;

class HttpTransport final : public Transport {
 public:
  HttpTransport(const ClientConfig& config, Clock& clock, const TransportOptions& options)
      : config_(config),
        options_(options),
        clock_(clock),
        tokens_(config, clock),
        tls_(config, clock),
        pool_(config, clock, options) {}

  // Fails early where waiting for the first request would only hide a wrong path.
  absl::Status LoadCredentials() {
    absl::StatusOr<std::string> token = tokens_.Token();
    if (!token.ok()) return token.status();
    return tls_.Material().status();
  }

  absl::StatusOr<HttpResponse> Request(const HttpRequest& request) override;
  absl::StatusOr<HttpResponse> Stream(const HttpRequest& request,
                                      const StreamOptions& options) override;
  void Shutdown() override { pool_.Shutdown(); }

 private:
  absl::StatusOr<Connection::Exchange> MakeExchange(const HttpRequest& request);
  // One attempt on one connection; `reused` tells whether it had been used before.
  absl::StatusOr<HttpResponse> Attempt(const HttpRequest& request, absl::Duration deadline,
                                       bool fresh, bool& reused);

  const ClientConfig config_;
  const TransportOptions options_;
  Clock& clock_;
  TokenSource tokens_;
  TlsSource tls_;
  ConnectionPool pool_;
};

std::string Target(const ClientConfig& config, const HttpRequest& request) {
  std::string target = absl::StrCat(config.path_prefix, request.path);
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    absl::StrAppend(&target, absl::string_view(&separator, 1), EscapeUrl(name), "=",
                    EscapeUrl(value));
    separator = '&';
  }
  return target;
}

absl::StatusOr<Connection::Exchange> HttpTransport::MakeExchange(const HttpRequest& request) {
  absl::StatusOr<std::string> token = tokens_.Token();
  if (!token.ok()) return token.status();
  Connection::Exchange exchange;
  exchange.method = request.method;
  exchange.target = Target(config_, request);
  exchange.body = request.body;
  auto& headers = exchange.headers;
  headers.emplace_back("Accept", request.accept);
  // Inside a cluster bandwidth is cheap, and what is not compressed cannot be a bomb.
  headers.emplace_back("Accept-Encoding", "identity");
  headers.emplace_back("User-Agent", options_.user_agent);
  if (!request.content_type.empty()) headers.emplace_back("Content-Type", request.content_type);
  if (!token->empty()) {
    headers.emplace_back("Authorization", absl::StrCat("Bearer ", *token));
  } else if (!config_.username.empty()) {
    headers.emplace_back("Authorization",
                         absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(
                                                    config_.username, ":", config_.password))));
  }
  if (!config_.impersonate_user.empty()) {
    headers.emplace_back("Impersonate-User", config_.impersonate_user);
    if (!config_.impersonate_uid.empty()) {
      headers.emplace_back("Impersonate-Uid", config_.impersonate_uid);
    }
    for (const std::string& group : config_.impersonate_groups) {
      headers.emplace_back("Impersonate-Group", group);
    }
  }
  return exchange;
}

absl::StatusOr<HttpResponse> HttpTransport::Attempt(const HttpRequest& request,
                                                    absl::Duration deadline, bool fresh,
                                                    bool& reused) {
  absl::StatusOr<std::shared_ptr<const TlsMaterial>> material = tls_.Material();
  if (!material.ok()) return material.status();
  absl::StatusOr<Connection::Exchange> exchange = MakeExchange(request);
  if (!exchange.ok()) return exchange.status();
  absl::StatusOr<ConnectionPool::Lease> lease = pool_.Acquire(*material, fresh, deadline);
  if (!lease.ok()) return lease.status();
  reused = lease->reused();
  std::optional<Cancellation::Registration> registration;
  if (request.cancellation != nullptr) {
    registration.emplace(*request.cancellation, [&lease] { lease->connection().Abort(); });
  }

  HttpResponse response;
  exchange->io_timeout = deadline - clock_.Monotonic();
  if (exchange->io_timeout <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError(absl::StrCat(request.path, ": out of time"));
  }
  exchange->on_head = [&](const HttpResponse& head) {
    response = head;
    return absl::OkStatus();
  };
  exchange->on_data = [&](absl::string_view piece) -> absl::Status {
    if (response.body.size() + piece.size() > options_.max_response_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(request.path, ": answer of more than ",
                                                       options_.max_response_bytes, " bytes"));
    }
    if (clock_.Monotonic() > deadline) {
      return absl::DeadlineExceededError(absl::StrCat(request.path, ": not complete within ",
                                                      absl::FormatDuration(request.timeout)));
    }
    response.body.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  const absl::Duration start = clock_.Monotonic();
  absl::Status status = lease->connection().Send(*exchange);
  if (!status.ok()) return status;
  lease->KeepAlive();
  if (response.status == 401) tokens_.OnUnauthorized(start);
  return response;
}

absl::StatusOr<HttpResponse> HttpTransport::Request(const HttpRequest& request) {
  const absl::Duration deadline = clock_.Monotonic() + request.timeout;
  bool reused = false;
  absl::StatusOr<HttpResponse> response = Attempt(request, deadline, /*fresh=*/false, reused);
  if (response.ok()) {
    // Refused before anything was done: a token that was replaced on disk meanwhile gets its
    // chance.
    if (response->status != 401 || config_.token_file.empty()) return response;
    return Attempt(request, deadline, /*fresh=*/false, reused);
  }
  // The server may have closed a kept connection at the very moment of our request.
  if (reused && request.method == "GET" && absl::IsUnavailable(response.status())) {
    return Attempt(request, deadline, /*fresh=*/true, reused);
  }
  return response;
}

absl::StatusOr<HttpResponse> HttpTransport::Stream(const HttpRequest& request,
                                                   const StreamOptions& options) {
  absl::StatusOr<std::shared_ptr<const TlsMaterial>> material = tls_.Material();
  if (!material.ok()) return material.status();
  absl::StatusOr<Connection::Exchange> exchange = MakeExchange(request);
  if (!exchange.ok()) return exchange.status();
  absl::StatusOr<ConnectionPool::Lease> lease = pool_.AcquireUnpooled(*material);
  if (!lease.ok()) return lease.status();
  Connection& connection = lease->connection();

  std::optional<Cancellation::Registration> registration;
  if (options.cancellation != nullptr) {
    registration.emplace(*options.cancellation, [&connection] { connection.Abort(); });
  }
  HttpResponse response;
  exchange->io_timeout = options.idle_timeout;
  exchange->on_head = [&](const HttpResponse& head) {
    response = head;
    if (response.status == 200 && options.on_open) options.on_open();
    return absl::OkStatus();
  };
  exchange->on_data = [&](absl::string_view piece) -> absl::Status {
    if (response.status != 200) {
      const size_t room = kMaxErrorBodyBytes - response.body.size();
      response.body.append(piece.data(), std::min(room, piece.size()));
      return absl::OkStatus();
    }
    // A stream outlives certificates; data comes at least once a minute, which is soon enough.
    const absl::StatusOr<std::shared_ptr<const TlsMaterial>> current = tls_.Material();
    if (current.ok() && (*current)->generation != connection.generation()) {
      return absl::UnavailableError(absl::StrCat(request.path, ": certificates were replaced"));
    }
    return options.on_data(piece);
  };
  const absl::Duration start = clock_.Monotonic();
  absl::Status status = connection.Send(*exchange);
  if (!status.ok()) return status;
  if (response.status == 401) tokens_.OnUnauthorized(start);
  return response;
}

}  // namespace

void IgnoreSigpipe() {
  struct sigaction current = {};
  if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
}

std::string HttpResponse::Header(const std::string& name) const {
  auto it = headers.find(name);
  return it == headers.end() ? "" : it->second;
}

absl::StatusOr<std::unique_ptr<Transport>> NewTransport(const ClientConfig& config, Clock& clock,
                                                        const TransportOptions& options) {
  IgnoreSigpipe();
  auto transport = std::make_unique<HttpTransport>(config, clock, options);
  absl::Status status = transport->LoadCredentials();
  if (!status.ok()) return status;
  return transport;
}

}  // namespace reclaim::kube
