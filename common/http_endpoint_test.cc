// SPDX-License-Identifier: Apache-2.0
#include "common/http_endpoint.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "common/signals.h"

namespace reclaim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  // The server's own timeout is 5 s; past 20 s the test has failed.
  const timeval timeout{.tv_sec = 20, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0)
      << strerror(errno);
  return fd;
}

void SendAll(int fd, const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;  // the server has answered and closed already
    sent += static_cast<size_t>(n);
  }
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0) text.append(buffer, static_cast<size_t>(n));
  close(fd);
  return text;
}

// The whole response to one raw request, read until the server closes.
std::string Ask(int port, const std::string& request) {
  const int fd = Connect(port);
  SendAll(fd, request);
  return ReadAll(fd);
}

std::string Get(const std::string& path) {
  return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n");
}

std::unique_ptr<HttpEndpoint> StartOrDie(std::vector<HttpRoute> routes, int threads = 2,
                                         int max_waiting = 16) {
  IgnoreSigpipe();
  auto endpoint = HttpEndpoint::Start(
      {.name = "test", .address = "127.0.0.1:0", .threads = threads, .max_waiting = max_waiting},
      std::move(routes));
  EXPECT_TRUE(endpoint.ok()) << endpoint.status();
  return *std::move(endpoint);
}

HttpRoute Hello() {
  return {.path = "/hello", .handler = [](const HttpRequest& request) {
            return HttpResponse{.body = request.has_parameter("loud") ? "HELLO" : "hello"};
          }};
}

TEST(HttpEndpointTest, AnswersOnceAndCloses) {
  const auto endpoint = StartOrDie({Hello()});
  // Two requests on one connection: ReadAll returns at the close behind the first answer.
  const std::string response = Ask(endpoint->port(), Get("/hello") + Get("/hello"));
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(response, HasSubstr("Connection: close"));
  EXPECT_THAT(response, HasSubstr("hello"));
  EXPECT_EQ(response.find("HTTP/1.1"), response.rfind("HTTP/1.1"));
}

TEST(HttpEndpointTest, GivesTheHandlerTheQuery) {
  const auto endpoint = StartOrDie({Hello()});
  EXPECT_THAT(Ask(endpoint->port(), Get("/hello?loud")), HasSubstr("HELLO"));
  EXPECT_THAT(Ask(endpoint->port(), Get("/hello?loud=1&x=2")), HasSubstr("HELLO"));
  EXPECT_THAT(Ask(endpoint->port(), Get("/hello?quiet")), HasSubstr("hello"));
}

TEST(HttpEndpointTest, RefusesWhatIsNotAPlainGet) {
  const auto endpoint = StartOrDie({Hello()});
  struct Case {
    const char* name;
    std::string request;
    const char* status_line;
  };
  const Case cases[] = {
      {"head", "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200"},
      {"empty body", "GET /hello HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200"},
      {"unknown path", Get("/etc/passwd"), "HTTP/1.1 404"},
      {"longer path", Get("/hello/"), "HTTP/1.1 404"},
      {"regex path", Get("/hell."), "HTTP/1.1 404"},
      {"post", "POST /hello HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405"},
      {"delete", "DELETE /hello HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405"},
      {"body", "GET /hello HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde", "HTTP/1.1 400"},
      {"two lengths", "GET /hello HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n",
       "HTTP/1.1 400"},
      {"chunked",
       "POST /hello HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
       "HTTP/1.1 400"},
      {"compressed",
       "POST /hello HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nab",
       "HTTP/1.1 400"},
      {"not HTTP", "\x16\x03\x01\r\n\r\n", "HTTP/1.1 400"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Ask(endpoint->port(), c.request), StartsWith(c.status_line)) << c.name;
  }
}

TEST(HttpEndpointTest, SurvivesALongPath) {
  const auto endpoint = StartOrDie({Hello()});
  const std::string response = Ask(endpoint->port(), Get("/" + std::string(1 << 20, 'a')));
  EXPECT_THAT(response, Not(HasSubstr("200 OK")));
  EXPECT_THAT(Ask(endpoint->port(), Get("/hello")), HasSubstr("hello"));
}

TEST(HttpEndpointTest, HidesTheTextOfAThrow) {
  const auto endpoint = StartOrDie(
      {{.path = "/throws",
        .handler = [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("secret"); }},
       {.path = "/throws-int", .handler = [](const HttpRequest&) -> HttpResponse { throw 7; }}});
  for (const char* path : {"/throws", "/throws-int"}) {
    const std::string response = Ask(endpoint->port(), Get(path));
    EXPECT_THAT(response, StartsWith("HTTP/1.1 500")) << path;
    EXPECT_THAT(response, Not(HasSubstr("secret"))) << path;
  }
}

TEST(HttpEndpointTest, RefusesAPortInUse) {
  const auto endpoint = StartOrDie({Hello()});
  const auto second = HttpEndpoint::Start(
      {.name = "second", .address = absl::StrCat("127.0.0.1:", endpoint->port())}, {Hello()});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("second endpoint"));
  EXPECT_THAT(second.status().message(), HasSubstr("Address already in use"));
}

TEST(HttpEndpointTest, RefusesABadAddressOrPath) {
  for (const char* address : {"", "8080", "localhost", "localhost:", "h:99999", "h:-1", "h:http"}) {
    const auto endpoint = HttpEndpoint::Start({.name = "t", .address = address}, {Hello()});
    ASSERT_FALSE(endpoint.ok()) << address;
    EXPECT_EQ(endpoint.status().code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(endpoint.status().message(), HasSubstr("such as :8080")) << address;
  }
  const auto regex = HttpEndpoint::Start({.name = "t", .address = "127.0.0.1:0"},
                                         {{.path = "/.*", .handler = Hello().handler}});
  ASSERT_FALSE(regex.ok());
  EXPECT_THAT(regex.status().message(), HasSubstr("not literal"));
}

TEST(HttpEndpointTest, ListensOnEveryAddressWhenNoHostIsNamed) {
  const auto endpoint = HttpEndpoint::Start({.name = "t", .address = ":0"}, {Hello()});
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  EXPECT_THAT(Ask((*endpoint)->port(), Get("/hello")), HasSubstr("hello"));
}

// More clients than threads and queue together: all are answered, in turn.
TEST(HttpEndpointTest, ServesMoreClientsThanItHolds) {
  const auto endpoint = StartOrDie({Hello()}, /*threads=*/1, /*max_waiting=*/1);
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  clients.reserve(8);
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      if (Ask(endpoint->port(), Get("/hello")).find("hello") != std::string::npos) ++answered;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 8);
}

TEST(HttpEndpointTest, LetsARunningHandlerFinishBeforeItStops) {
  absl::Notification entered;
  absl::Notification leave;
  auto endpoint = StartOrDie({{.path = "/slow", .handler = [&](const HttpRequest&) {
                                 entered.Notify();
                                 leave.WaitForNotification();
                                 return HttpResponse{.body = "finished"};
                               }}});
  const int port = endpoint->port();
  std::string response;
  std::thread client([&] { response = Ask(port, Get("/slow")); });
  entered.WaitForNotification();
  std::thread stopper([&] { endpoint.reset(); });
  leave.Notify();
  stopper.join();
  client.join();
  EXPECT_THAT(response, HasSubstr("finished"));
}

TEST(HttpEndpointTest, StartsAndStopsWithoutAClient) {
  for (int i = 0; i < 20; ++i) StartOrDie({Hello()});
}

}  // namespace
}  // namespace reclaim
