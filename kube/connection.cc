// SPDX-License-Identifier: Apache-2.0
#include "kube/connection.h"

#include <fcntl.h>
#include <httplib.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/tls_context.h"

namespace reclaim::kube {
namespace {

// Sent data unacknowledged, or keep-alive probes unanswered, for about 30 s: the peer is gone.
constexpr int kTcpUserTimeoutMs = 30'000;
constexpr int kKeepIdleSeconds = 15;
constexpr int kKeepIntervalSeconds = 5;
constexpr int kKeepCount = 3;

// cpp-httplib's integers overflow beyond days; nothing here waits longer than this.
constexpr absl::Duration kLongestWait = absl::Hours(24);

std::chrono::microseconds Micros(absl::Duration duration) {
  return absl::ToChronoMicroseconds(std::min(duration, kLongestWait));
}

// cpp-httplib takes another address than the name in the URL only as a number.
absl::StatusOr<std::string> ResolveToNumber(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(absl::StrCat(host, ": ", gai_strerror(error)));
  char number[NI_MAXHOST];
  const int named = getnameinfo(found->ai_addr, found->ai_addrlen, number, sizeof(number), nullptr,
                                0, NI_NUMERICHOST);
  freeaddrinfo(found);
  if (named != 0) return absl::UnavailableError(absl::StrCat(host, ": ", gai_strerror(named)));
  return std::string(number);
}

HttpResponse HeadOf(const httplib::Response& response) {
  HttpResponse head;
  head.status = response.status;
  for (const auto& [name, value] : response.headers) {
    head.headers.emplace(absl::AsciiStrToLower(name), value);
  }
  return head;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::New(
    const ClientConfig& config, std::shared_ptr<const TlsMaterial> material,
    absl::Duration connect_timeout) {
  std::unique_ptr<Connection> connection(new Connection(config, std::move(material)));
  connection->connect_timeout_ = connect_timeout;
  if (config.tls) {
    const std::string& name = config.tls_server_name.empty() ? config.host : config.tls_server_name;
    auto client = std::make_unique<httplib::SSLClient>(name, config.port);
    if (name != config.host) {
      absl::StatusOr<std::string> address = ResolveToNumber(config.host, config.port);
      if (!address.ok()) return address.status();
      client->set_hostname_addr_map({{name, *address}});
    }
    absl::Status status = ConfigureTls(client->ssl_context(), *connection->material_, name,
                                       config.insecure_skip_tls_verify, &connection->verify_error_);
    if (!status.ok()) return status;
    // The context verifies during the handshake; see tls_context.h.
    client->enable_server_certificate_verification(false);
    connection->http_ = std::move(client);
  } else {
    connection->http_ = std::make_unique<httplib::ClientImpl>(config.host, config.port);
  }
  httplib::ClientImpl& http = *connection->http_;
  http.set_keep_alive(true);
  http.set_tcp_nodelay(true);
  http.set_url_encode(false);
  http.set_decompress(false);
  http.set_socket_options([raw = connection.get()](int socket) { raw->OnSocket(socket); });
  return connection;
}

Connection::Connection(const ClientConfig& config, std::shared_ptr<const TlsMaterial> material)
    : peer_(absl::StrCat(config.host, ":", config.port)), material_(std::move(material)) {}

Connection::~Connection() {
  http_.reset();
  absl::MutexLock lock(&mutex_);
  if (abort_fd_ >= 0) close(abort_fd_);
}

void Connection::OnSocket(int socket) {
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kTcpUserTimeoutMs);
  absl::MutexLock lock(&mutex_);
  if (abort_fd_ >= 0) close(abort_fd_);
  abort_fd_ = fcntl(socket, F_DUPFD_CLOEXEC, 0);
  // Shutting down a socket that is not connected yet holds: once connected it reads end of file.
  if (aborted_) shutdown(socket, SHUT_RDWR);
}

void Connection::Abort() {
  absl::MutexLock lock(&mutex_);
  aborted_ = true;
  if (abort_fd_ >= 0) shutdown(abort_fd_, SHUT_RDWR);
}

bool Connection::Reusable() const {
  if (http_->is_socket_open() == 0) return false;
  pollfd look = {.fd = static_cast<int>(http_->socket()), .events = POLLIN, .revents = 0};
  return poll(&look, 1, 0) == 0;
}

absl::Status Connection::Send(const Exchange& exchange) {
  http_->set_connection_timeout(Micros(std::min(connect_timeout_, exchange.io_timeout)));
  http_->set_read_timeout(Micros(exchange.io_timeout));
  http_->set_write_timeout(Micros(exchange.io_timeout));

  if (http_->is_socket_open() != 0) {
    // The kernel's own limit, set when connecting, ends the wait for the rest of a TLS record.
    const timeval limit = absl::ToTimeval(std::min(exchange.io_timeout, kLongestWait));
    setsockopt(static_cast<int>(http_->socket()), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  httplib::Request request;
  request.method = exchange.method;
  request.path = exchange.target;
  request.body = exchange.body;
  for (const auto& [name, value] : exchange.headers) request.headers.emplace(name, value);

  absl::Status ended_by_callback;
  request.response_handler = [&](const httplib::Response& response) {
    if (exchange.on_head) ended_by_callback = exchange.on_head(HeadOf(response));
    return ended_by_callback.ok();
  };
  absl::Time last_byte = absl::Now();
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    last_byte = absl::Now();
    ended_by_callback = exchange.on_data(absl::string_view(data, size));
    return ended_by_callback.ok();
  };

  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  bool sent = false;
  try {
    sent = http_->send(request, response, error);
  } catch (const std::exception& thrown) {
    return absl::UnavailableError(absl::StrCat(peer_, ": ", thrown.what()));
  }
  {
    absl::MutexLock lock(&mutex_);
    if (aborted_) return absl::CancelledError(absl::StrCat(peer_, ": cancelled"));
  }
  if (!ended_by_callback.ok()) return ended_by_callback;
  if (sent) return absl::OkStatus();
  return ErrorStatus(static_cast<int>(error), absl::Now() - last_byte, exchange.io_timeout);
}

absl::Status Connection::ErrorStatus(int httplib_error, absl::Duration waited,
                                     absl::Duration io_timeout) {
  const auto error = static_cast<httplib::Error>(httplib_error);
  switch (error) {
    case httplib::Error::Connection:
      return absl::UnavailableError(absl::StrCat("cannot connect to ", peer_));
    case httplib::Error::ConnectionTimeout:
      return absl::UnavailableError(absl::StrCat("no connection to ", peer_, " within ",
                                                 absl::FormatDuration(connect_timeout_)));
    case httplib::Error::SSLConnection:
      if (!verify_error_.empty()) {
        return absl::UnauthenticatedError(
            absl::StrCat("the certificate of ", peer_,
                         " is not the right one: ", std::exchange(verify_error_, "")));
      }
      return absl::UnavailableError(
          absl::StrCat("TLS handshake with ", peer_, " failed: ", TakeOpensslError()));
    case httplib::Error::Read:
      // poll() waits in whole milliseconds, so it may end a little early.
      if (waited >= io_timeout - absl::Milliseconds(5)) {
        return absl::DeadlineExceededError(
            absl::StrCat("no byte from ", peer_, " for ", absl::FormatDuration(io_timeout)));
      }
      return absl::UnavailableError(absl::StrCat(peer_, " closed the connection before the end"));
    default:
      return absl::UnavailableError(
          absl::StrCat("exchange with ", peer_, " failed: ", httplib::to_string(error)));
  }
}

}  // namespace reclaim::kube
