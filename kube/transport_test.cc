// SPDX-License-Identifier: Apache-2.0
#include "kube/transport.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/simulated_clock.h"
#include "common/testing/eventually.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"
#include "kube/testing/temp_dir.h"

namespace reclaim::kube {
namespace {

using testing::FakeApiServer;
using testing::FakeReply;
using testing::FakeRequest;
using ::testing::HasSubstr;
using testing::TempDir;

void RespondOk(const FakeRequest&, FakeReply& reply) { reply.Respond(200, "{}"); }

HttpRequest Make(const std::string& method, const std::string& path = "/api") {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.timeout = kPatience;
  return request;
}

std::unique_ptr<Transport> New(const ClientConfig& config, Clock& clock,
                               const TransportOptions& options = {}) {
  absl::StatusOr<std::unique_ptr<Transport>> transport = NewTransport(config, clock, options);
  EXPECT_TRUE(transport.ok()) << transport.status();
  return *std::move(transport);
}

TEST(TransportTest, SendsWhatItIsTold) {
  SystemClock clock;
  FakeApiServer server(RespondOk);
  ClientConfig config = server.Config();
  config.path_prefix = "/prefix";
  config.token = "t0";
  config.impersonate_user = "root";
  config.impersonate_groups = {"a"};
  const auto transport = New(config, clock, {.user_agent = "test/1"});
  HttpRequest request = Make("POST", "/api/v1/x");
  request.query = {{"labelSelector", "a in (b,c)"}, {"force", "true"}};
  request.content_type = "application/json";
  request.body = "{\"a\":1}";
  const auto response = transport->Request(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "{}");
  EXPECT_EQ(response->Header("content-type"), "application/json");
  FakeRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.target, "/prefix/api/v1/x?labelSelector=a%20in%20%28b%2Cc%29&force=true");
  EXPECT_EQ(seen.body, "{\"a\":1}");
  EXPECT_EQ(seen.headers["authorization"], "Bearer t0");
  EXPECT_EQ(seen.headers["user-agent"], "test/1");
  EXPECT_EQ(seen.headers["accept"], "application/json");
  EXPECT_EQ(seen.headers["content-type"], "application/json");
  EXPECT_EQ(seen.headers["impersonate-user"], "root");
  EXPECT_EQ(seen.headers["impersonate-group"], "a");
}

TEST(TransportTest, BasicAuthIsUsedWhenThereIsNoToken) {
  SystemClock clock;
  FakeApiServer server(RespondOk);
  ClientConfig config = server.Config();
  config.username = "me";
  config.password = "pw";
  ASSERT_TRUE(New(config, clock)->Request(Make("GET")).ok());
  EXPECT_EQ(server.requests().at(0).headers["authorization"], "Basic bWU6cHc=");
}

TEST(TransportTest, KeepsAConnectionForTheNextRequest) {
  SystemClock clock;
  FakeApiServer server(RespondOk);
  const auto transport = New(server.Config(), clock);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(transport->Request(Make("PUT")).ok());
  EXPECT_EQ(server.requests().back().connection, 1);
}

TEST(TransportTest, DoesNotReuseAConnectionThatWasIdleForTooLong) {
  SimulatedClock clock;
  FakeApiServer server(RespondOk);
  const auto transport = New(server.Config(), clock);
  ASSERT_TRUE(transport->Request(Make("GET")).ok());
  clock.Advance(absl::Seconds(60));
  ASSERT_TRUE(transport->Request(Make("GET")).ok());
  EXPECT_EQ(server.requests().back().connection, 1);
  clock.Advance(absl::Seconds(61));
  ASSERT_TRUE(transport->Request(Make("GET")).ok());
  EXPECT_EQ(server.requests().back().connection, 2);
}

TEST(TransportTest, AWriteAfterTheServerClosedItsConnectionsGoesToANewOne) {
  SystemClock clock;
  FakeApiServer server(RespondOk);
  const auto transport = New(server.Config(), clock);
  for (int connection = 1; connection <= 3; ++connection) {
    const auto response = transport->Request(Make("PUT"));
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(server.requests().back().connection, connection);
    server.CloseConnections();
  }
}

// The server closes just as the request arrives: only a read may be sent again.
TEST(TransportTest, RepeatsAReadOnAReusedConnectionAndNeverAWrite) {
  for (const std::string method : {"GET", "PUT"}) {
    SystemClock clock;
    FakeApiServer server([](const FakeRequest& request, FakeReply& reply) {
      if (request.connection == 1 && request.target == "/second") return reply.Hangup();
      reply.Respond(200, "{}");
    });
    const auto transport = New(server.Config(), clock);
    ASSERT_TRUE(transport->Request(Make(method, "/first")).ok());
    const auto response = transport->Request(Make(method, "/second"));
    EXPECT_EQ(response.ok(), method == "GET") << response.status();
    EXPECT_EQ(server.requests().size(), method == "GET" ? 3 : 2);
  }
}

TEST(TransportTest, AnAnswerThatBreaksOffIsAnErrorAndNotAShortAnswer) {
  SystemClock clock;
  const std::vector<std::string> answers = {
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n{\"a\"",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
      "HTTP/1.1 2",
      "nonsense\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    FakeApiServer server([&](const FakeRequest&, FakeReply& reply) {
      reply.SendRaw(answer);
      reply.Hangup();
    });
    const auto response = New(server.Config(), clock)->Request(Make("GET"));
    EXPECT_TRUE(absl::IsUnavailable(response.status())) << answer << ": " << response.status();
  }
}

TEST(TransportTest, LimitsTheSizeOfAnAnswer) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) {
    reply.BeginStream();
    for (int i = 0; i < 100 && !reply.hung_up(); ++i) reply.Chunk(std::string(1000, 'x'));
    reply.EndStream();
  });
  const auto small = New(server.Config(), clock, {.max_response_bytes = 50'000});
  EXPECT_TRUE(absl::IsResourceExhausted(small->Request(Make("GET")).status()));
  const auto large = New(server.Config(), clock, {.max_response_bytes = 100'000});
  EXPECT_EQ(large->Request(Make("GET"))->body.size(), 100'000);
}

TEST(TransportTest, SilenceEndsWithTheTimeout) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) { reply.HoldOpen(); });
  HttpRequest request = Make("GET");
  request.timeout = absl::Milliseconds(100);
  const auto response = New(server.Config(), clock)->Request(request);
  EXPECT_TRUE(absl::IsDeadlineExceeded(response.status())) << response.status();
}

TEST(TransportTest, NobodyListening) {
  SystemClock clock;
  ClientConfig config;
  {
    FakeApiServer server(RespondOk);
    config = server.Config();
  }
  const auto response = New(config, clock)->Request(Make("GET"));
  EXPECT_TRUE(absl::IsUnavailable(response.status()));
  EXPECT_THAT(response.status().message(), HasSubstr("cannot connect to 127.0.0.1:"));
}

TEST(TransportTest, RequestsBeyondTheLimitWaitForTheirTurn) {
  SystemClock clock;
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  FakeApiServer server([&](const FakeRequest&, FakeReply& reply) {
    const int active = ++now;
    int seen = most;
    while (seen < active && !most.compare_exchange_weak(seen, active)) {
    }
    --now;
    reply.Respond(200, "{}");
  });
  const auto transport = New(server.Config(), clock, {.max_connections = 2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) EXPECT_TRUE(transport->Request(Make("GET")).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server.requests().size(), 160);
  EXPECT_LE(most, 2);
  for (const FakeRequest& request : server.requests()) EXPECT_LE(request.connection, 2);
}

TEST(TransportTest, WaitingForATurnEndsWithTheTimeout) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) { reply.HoldOpen(); });
  const auto transport = New(server.Config(), clock, {.max_connections = 1});
  std::thread first([&] { EXPECT_FALSE(transport->Request(Make("GET")).ok()); });
  EXPECT_TRUE(Eventually("the first request", [&] { return server.requests().size() == 1; }));
  HttpRequest second = Make("GET");
  second.timeout = absl::Milliseconds(50);
  EXPECT_THAT(transport->Request(second).status().message(), HasSubstr("in use"));
  transport->Shutdown();
  first.join();
}

TEST(TransportTest, ShutdownEndsWhatIsUnderWayAndRefusesTheRest) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) { reply.HoldOpen(); });
  const auto transport = New(server.Config(), clock);
  std::thread request(
      [&] { EXPECT_TRUE(absl::IsCancelled(transport->Request(Make("GET")).status())); });
  std::thread stream(
      [&] { EXPECT_TRUE(absl::IsCancelled(transport->Stream(Make("GET"), {}).status())); });
  EXPECT_TRUE(Eventually("both requests", [&] { return server.requests().size() == 2; }));
  transport->Shutdown();
  request.join();
  stream.join();
  EXPECT_TRUE(absl::IsCancelled(transport->Request(Make("GET")).status()));
  EXPECT_TRUE(absl::IsCancelled(transport->Stream(Make("GET"), {}).status()));
}

TEST(TransportTest, ATokenReplacedOnDiskIsUsedAfterA401) {
  SystemClock clock;
  const TempDir dir;
  FakeApiServer server([](const FakeRequest& request, FakeReply& reply) {
    const bool known = request.headers.at("authorization") == "Bearer two";
    reply.Respond(known ? 200 : 401, "{}");
  });
  ClientConfig config = server.Config();
  config.token_file = dir.Write("token", "one");
  const auto transport = New(config, clock);
  EXPECT_EQ(transport->Request(Make("PUT"))->status, 401);
  dir.Write("token", "two");
  EXPECT_EQ(transport->Request(Make("PUT"))->status, 200);
}

TEST(TransportTest, CredentialsThatCannotBeLoadedFailAtOnce) {
  SystemClock clock;
  ClientConfig config;
  config.host = "127.0.0.1";
  config.token_file = "/nonexistent/token";
  EXPECT_THAT(NewTransport(config, clock).status().message(), HasSubstr("/nonexistent/token"));
  config.token_file.clear();
  config.certificate_authority.path = "/nonexistent/ca.crt";
  EXPECT_THAT(NewTransport(config, clock).status().message(), HasSubstr("/nonexistent/ca.crt"));
}

// Streams.

StreamOptions Collect(std::string& data) {
  StreamOptions options;
  options.on_data = [&data](absl::string_view piece) {
    data.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  return options;
}

TEST(TransportStreamTest, DeliversEachPieceAsItComes) {
  SystemClock clock;
  absl::Mutex mutex;
  std::string data;
  FakeApiServer server([&](const FakeRequest&, FakeReply& reply) {
    reply.BeginStream();
    for (const char* piece : {"one", "two", "three"}) {
      reply.Chunk(piece);
      EXPECT_TRUE(Eventually(piece, [&] {
        absl::MutexLock lock(&mutex);
        return data.ends_with(piece);
      }));
    }
    reply.EndStream();
  });
  bool opened = false;
  StreamOptions options;
  options.on_open = [&] { opened = true; };
  options.on_data = [&](absl::string_view piece) {
    absl::MutexLock lock(&mutex);
    data.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  const auto response = New(server.Config(), clock)->Stream(Make("GET"), options);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_TRUE(opened);
  EXPECT_EQ(data, "onetwothree");
}

TEST(TransportStreamTest, AnotherStatusComesWithItsBody) {
  SystemClock clock;
  FakeApiServer server(
      [](const FakeRequest&, FakeReply& reply) { reply.Respond(410, "{\"kind\":\"Status\"}"); });
  std::string data;
  const auto response = New(server.Config(), clock)->Stream(Make("GET"), Collect(data));
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 410);
  EXPECT_EQ(response->body, "{\"kind\":\"Status\"}");
  EXPECT_EQ(data, "");
}

TEST(TransportStreamTest, SilenceEndsItAsUnavailable) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) {
    reply.BeginStream();
    reply.Chunk("one");
    reply.HoldOpen();
  });
  std::string data;
  StreamOptions options = Collect(data);
  options.idle_timeout = absl::Milliseconds(100);
  const auto response = New(server.Config(), clock)->Stream(Make("GET"), options);
  EXPECT_TRUE(absl::IsDeadlineExceeded(response.status())) << response.status();
  EXPECT_THAT(response.status().message(), HasSubstr("no byte"));
  EXPECT_EQ(data, "one");
}

TEST(TransportStreamTest, TheConsumersStatusEndsIt) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) {
    reply.BeginStream();
    reply.Chunk("one");
    reply.HoldOpen();
  });
  StreamOptions options;
  options.on_data = [](absl::string_view) { return absl::DataLossError("enough"); };
  const auto response = New(server.Config(), clock)->Stream(Make("GET"), options);
  EXPECT_EQ(response.status(), absl::DataLossError("enough"));
}

TEST(TransportStreamTest, CancellationEndsItAtOnceAndBeforeItBegins) {
  SystemClock clock;
  FakeApiServer server([](const FakeRequest&, FakeReply& reply) {
    reply.BeginStream();
    reply.HoldOpen();
  });
  const auto transport = New(server.Config(), clock);
  Cancellation cancellation;
  std::string data;
  StreamOptions options = Collect(data);
  options.cancellation = &cancellation;
  options.idle_timeout = absl::Hours(1);
  std::thread stream(
      [&] { EXPECT_TRUE(absl::IsCancelled(transport->Stream(Make("GET"), options).status())); });
  EXPECT_TRUE(Eventually("the stream to open", [&] { return server.requests().size() == 1; }));
  cancellation.Cancel();
  stream.join();
  EXPECT_TRUE(absl::IsCancelled(transport->Stream(Make("GET"), options).status()));
}

}  // namespace
}  // namespace reclaim::kube
