// SPDX-License-Identifier: Apache-2.0
#include "common/http_endpoint.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "common/log.h"

namespace reclaim {
namespace {

constexpr int kTimeoutSeconds = 5;
constexpr size_t kMaxBodyBytes = 1024;

struct Address {
  std::vector<std::string> hosts;  // to try in order
  int port = 0;
};

absl::StatusOr<Address> ParseAddress(const HttpEndpointOptions& options) {
  const absl::string_view text = options.address;
  const size_t colon = text.rfind(':');
  Address address;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &address.port) || address.port < 0 ||
      address.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("address of the ", options.name, " endpoint is \"", text,
                     "\"; want HOST:PORT or :PORT, such as :8080 or 127.0.0.1:8080"));
  }
  absl::string_view host = text.substr(0, colon);
  if (host.empty()) {
    // "::" takes IPv4 as well; a machine without IPv6 has only 0.0.0.0.
    address.hosts = {"::", "0.0.0.0"};
  } else if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    address.hosts = {std::string(host.substr(1, host.size() - 2))};
  } else {
    address.hosts = {std::string(host)};
  }
  return address;
}

bool IsLiteralPath(absl::string_view path) {
  return absl::StartsWith(path, "/") && std::all_of(path.begin(), path.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '/' || c == '-' || c == '_';
         });
}

// A fixed number of threads and a bounded queue. cpp-httplib 0.11 hands over the connection inside
// the closure, so a full queue cannot refuse it without leaking its descriptor: the accepting
// thread waits instead, and further clients wait in the kernel's backlog. Each connection ends
// within a few timeouts, so the wait does too.
class BoundedTaskQueue : public httplib::TaskQueue {
 public:
  BoundedTaskQueue(int threads, int max_waiting) : max_waiting_(max_waiting) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }

  void enqueue(std::function<void()> task) override {
    const auto has_room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return static_cast<int>(tasks_.size()) < max_waiting_;
    };
    absl::MutexLock lock(&mutex_, absl::Condition(&has_room));
    tasks_.push_back(std::move(task));
  }

  // Runs what is queued (each closes its connection), then ends the threads.
  void shutdown() override {
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Work() {
    const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopping_ || !tasks_.empty();
    };
    while (true) {
      std::function<void()> task;
      {
        absl::MutexLock lock(&mutex_, absl::Condition(&has_work));
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  const int max_waiting_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

void Respond(const HttpResponse& from, httplib::Response& to) {
  to.status = from.status;
  to.set_content(from.body, from.content_type);
  to.set_header("X-Content-Type-Options", "nosniff");
}

bool AnnouncesBody(const httplib::Request& request) {
  const auto [begin, end] = request.headers.equal_range("Content-Length");
  return request.has_header("Transfer-Encoding") || request.has_header("Content-Encoding") ||
         std::any_of(begin, end, [](const auto& header) { return header.second != "0"; });
}

HttpResponse ServerError() {
  return {.status = 500, .body = "internal error; the log has the details\n"};
}

HttpResponse Call(const std::string& endpoint, const HttpRoute& route,
                  const httplib::Request& request) {
  std::string error;
  try {
    return route.handler({.has_parameter = [&request](absl::string_view name) {
      return request.has_param(std::string(name));
    }});
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "something that is not a std::exception";
  }
  LogError("HTTP handler threw", {{"endpoint", endpoint}, {"path", route.path}, {"error", error}});
  return ServerError();
}

}  // namespace

class HttpEndpoint::Impl {
 public:
  Impl(HttpEndpointOptions options, std::vector<HttpRoute> routes)
      : options_(std::move(options)), routes_(std::move(routes)) {
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(kTimeoutSeconds);
    server_.set_write_timeout(kTimeoutSeconds);
    server_.set_payload_max_length(kMaxBodyBytes);
    // The library's default is SO_REUSEPORT, with which a second process takes half of the
    // connections instead of being told that the port is in use.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    // Every request ends here, before the library reads a body or matches a path with a std::regex,
    // whose recursion a long path turns into a stack overflow.
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          Respond(Route(request), response);
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.set_exception_handler(
        [this](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          LogError("HTTP request failed", {{"endpoint", options_.name}});
          Respond(ServerError(), response);
        });
    server_.new_task_queue = [this]() -> httplib::TaskQueue* {
      accepting_.Notify();
      return new BoundedTaskQueue(options_.threads, options_.max_waiting);
    };
  }

  ~Impl() {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  absl::Status Start() {
    for (const HttpRoute& route : routes_) {
      if (!IsLiteralPath(route.path)) {
        return absl::InvalidArgumentError(
            absl::StrCat("path \"", route.path, "\" of the ", options_.name,
                         " endpoint is not literal; want letters, digits, /, - and _"));
      }
    }
    absl::StatusOr<Address> address = ParseAddress(options_);
    if (!address.ok()) return address.status();
    int error = 0;
    for (const std::string& host : address->hosts) {
      errno = 0;
      if (address->port == 0) {
        port_ = server_.bind_to_any_port(host);
      } else {
        port_ = server_.bind_to_port(host, address->port) ? address->port : -1;
      }
      if (port_ > 0) break;
      error = errno;
    }
    if (port_ <= 0) {
      const std::string message =
          absl::StrCat("cannot listen on ", options_.address, " for the ", options_.name,
                       " endpoint: ", error != 0 ? strerror(error) : "no such address here");
      return error != 0 ? absl::ErrnoToStatus(error, message) : absl::NotFoundError(message);
    }
    thread_ = std::thread([this] {
      if (!server_.listen_after_bind()) {
        LogError("HTTP endpoint stopped accepting", {{"endpoint", options_.name}});
      }
    });
    // Before this, stop() would be lost.
    accepting_.WaitForNotification();
    LogInfo("HTTP endpoint listens", {{"endpoint", options_.name}, {"port", port_}});
    return absl::OkStatus();
  }

  int port() const { return port_; }

 private:
  HttpResponse Route(const httplib::Request& request) const {
    if (AnnouncesBody(request)) return {.status = 400, .body = "a request here has no body\n"};
    if (request.method != "GET" && request.method != "HEAD") {
      return {.status = 405, .body = "only GET and HEAD\n"};
    }
    for (const HttpRoute& route : routes_) {
      if (route.path == request.path) return Call(options_.name, route, request);
    }
    std::string body = "not found; there is:\n";
    for (const HttpRoute& route : routes_) absl::StrAppend(&body, route.path, "\n");
    return {.status = 404, .body = std::move(body)};
  }

  const HttpEndpointOptions options_;
  const std::vector<HttpRoute> routes_;
  httplib::Server server_;
  absl::Notification accepting_;
  int port_ = -1;
  std::thread thread_;
};

HttpEndpoint::HttpEndpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpEndpoint::~HttpEndpoint() = default;

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Start(
    const HttpEndpointOptions& options, std::vector<HttpRoute> routes) {
  auto impl = std::make_unique<Impl>(options, std::move(routes));
  absl::Status started = impl->Start();
  if (!started.ok()) return started;
  return std::unique_ptr<HttpEndpoint>(new HttpEndpoint(std::move(impl)));
}

int HttpEndpoint::port() const { return impl_->port(); }

}  // namespace reclaim
