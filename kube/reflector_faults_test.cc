// SPDX-License-Identifier: Apache-2.0
// How a reflector takes what servers and networks do to it.
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/reflector_fixture.h"
#include "kube/testing/temp_dir.h"

namespace reclaim::kube::testing {
namespace {

using ::testing::ElementsAre;

TEST_F(ReflectorTest, AWatchThatEndsAtOnceIsAnErrorAndListsAgain) {
  OnList(ListOf(10, {}));
  OnWatch([](FakeReply& reply) {
    reply.BeginStream();
    reply.EndStream();
  });
  OnList(ListOf(12, {}));
  Start();
  ASSERT_TRUE(WaitForRequests(4));
  EXPECT_THAT(asked(), ElementsAre("LIST resourceVersion=0 limit=500", "WATCH resourceVersion=10",
                                   "LIST resourceVersion=10", "WATCH resourceVersion=12"));
  EXPECT_EQ(reflector_->stats().watch_errors, 1);
}

TEST_F(ReflectorTest, A410AsAnswerListsAgainAndFindsDeletions) {
  OnList(ListOf(10, {Object("a", 3), Object("gone", 4), Object("anew", 5, "uid1")}));
  OnWatch([](FakeReply& reply) { reply.Respond(410, DumpJson(kExpired)); });
  OnList(ListOf(90, {Object("a", 3), Object("anew", 80, "uid2"), Object("new", 85)}));
  Start();
  ASSERT_TRUE(WaitForLog(7));
  EXPECT_THAT(log(), ElementsAre("+a@3", "+anew@5", "+gone@4",  //
                                 "-anew@5?", "+anew@80", "+new@85", "-gone@4?"));
  ASSERT_TRUE(WaitForRequests(4));
  EXPECT_THAT(asked(), ElementsAre("LIST resourceVersion=0 limit=500", "WATCH resourceVersion=10",
                                   "LIST resourceVersion=10", "WATCH resourceVersion=90"));
}

TEST_F(ReflectorTest, AServerThatIsBackAndHasForgottenIsListedAtOnce) {
  // A wait after the 410 would last an hour.
  Json expired = kExpired;
  expired["details"] = {{"retryAfterSeconds", 3600}};
  OnList(ListOf(10, {Object("a", 3)}));
  OnWatch([](FakeReply& reply) { reply.Respond(503, "{}"); });
  OnWatch([expired](FakeReply& reply) { reply.Respond(410, DumpJson(expired)); });
  OnList(ListOf(90, {}));
  Start();
  ASSERT_TRUE(WaitForLog(2));
  EXPECT_THAT(log(), ElementsAre("+a@3", "-a@3?"));
}

TEST_F(ReflectorTest, A410InsideAStreamListsAgain) {
  OnList(ListOf(10, {Object("a", 3)}));
  OnWatch(Event("MODIFIED", Object("a", 11)) + Event("ERROR", kExpired));
  OnList(ListOf(90, {}));
  Start();
  ASSERT_TRUE(WaitForLog(3));
  EXPECT_THAT(log(), ElementsAre("+a@3", "~a@11", "-a@11?"));
  EXPECT_EQ(asked()[2], "LIST resourceVersion=11");
}

TEST_F(ReflectorTest, A410OnAContinueTokenListsInOneAnswer) {
  OnList(ListOf(10, {Object("a", 3), Object("half", 4)}, "next"));
  OnList([](FakeReply& reply) { reply.Respond(410, DumpJson(kExpired)); });
  OnList(ListOf(20, {Object("a", 3), Object("b", 5)}));
  Start();
  ASSERT_TRUE(WaitForRequests(4));
  EXPECT_THAT(asked(),
              ElementsAre("LIST resourceVersion=0 limit=500", "LIST limit=500 continue=next",
                          "LIST resourceVersion=0", "WATCH resourceVersion=20"));
  EXPECT_THAT(log(), ElementsAre("+a@3", "+b@5"));
}

TEST_F(ReflectorTest, AListWhoseVersionIsGoneOrTooNewAsksForTheNewest) {
  const Json too_large = {
      {"kind", "Status"},
      {"code", 504},
      {"reason", "Timeout"},
      {"details", {{"causes", Json::array({{{"reason", "ResourceVersionTooLarge"}}})}}}};
  OnList(ListOf(10, {}));
  int newest = 10;
  for (const Json& refusal : {kExpired, too_large}) {
    OnWatch(Event("ERROR", kExpired));
    OnList([refusal](FakeReply& reply) {
      reply.Respond(refusal["code"].get<int>(), DumpJson(refusal));
    });
    OnList(ListOf(newest += 10, {}));
  }
  Start();
  ASSERT_TRUE(WaitForRequests(8));
  EXPECT_THAT(asked(),
              ElementsAre("LIST resourceVersion=0 limit=500", "WATCH resourceVersion=10",
                          "LIST resourceVersion=10", "LIST limit=500", "WATCH resourceVersion=20",
                          "LIST resourceVersion=20", "LIST limit=500", "WATCH resourceVersion=30"));
}

TEST_F(ReflectorTest, ALineThatIsNoJsonListsAgain) {
  OnList(ListOf(10, {}));
  OnWatch(Event("ADDED", Object("a", 11)) + "{\"type\":\"ADDED\",\"obj\n");
  OnList(ListOf(90, {Object("a", 11), Object("b", 12)}));
  Start();
  ASSERT_TRUE(WaitForLog(2));
  EXPECT_THAT(log(), ElementsAre("+a@11", "+b@12"));
}

TEST_F(ReflectorTest, AGiantLineListsAgain) {
  options_.max_line_bytes = 10'000;
  OnList(ListOf(10, {}));
  OnWatch([](FakeReply& reply) {
    reply.BeginStream();
    while (!reply.hung_up()) reply.Chunk(std::string(1000, 'x'));
  });
  OnList(ListOf(90, {Object("a", 11)}));
  Start();
  ASSERT_TRUE(WaitForLog(1));
  EXPECT_THAT(reflector_->stats().watch_errors, 1);
}

TEST_F(ReflectorTest, AHalfOpenConnectionIsNoticedAndTheWatchGoesOn) {
  options_.idle_timeout = absl::Milliseconds(100);
  OnList(ListOf(10, {}));
  OnWatch(Event("ADDED", Object("a", 11)));  // and then silence
  Start();
  ASSERT_TRUE(WaitForRequests(3));
  EXPECT_EQ(asked()[2], "WATCH resourceVersion=11");
  EXPECT_EQ(reflector_->stats().lists, 1);
  EXPECT_EQ(reflector_->stats().watch_errors, 0);
}

TEST_F(ReflectorTest, ABrokenStreamIsTakenUpWhereItBroke) {
  OnList(ListOf(10, {}));
  OnWatch([](FakeReply& reply) {
    reply.BeginStream();
    reply.Chunk(Event("ADDED", Object("a", 11)));
    reply.SendRaw("ff\r\n{\"type\":\"ADDED\",\"object\"");  // a chunk of 255 bytes that breaks off
    reply.Hangup();
  });
  OnWatch([](FakeReply& reply) { reply.Hangup(); });
  OnWatch([](FakeReply& reply) { reply.Respond(503, ""); });
  OnWatch(Event("ADDED", Object("b", 12)));
  Start();
  ASSERT_TRUE(WaitForLog(2));
  EXPECT_THAT(log(), ElementsAre("+a@11", "+b@12"));
  EXPECT_THAT(asked(), ElementsAre("LIST resourceVersion=0 limit=500", "WATCH resourceVersion=10",
                                   "WATCH resourceVersion=11", "WATCH resourceVersion=11",
                                   "WATCH resourceVersion=11"));
  EXPECT_EQ(reflector_->stats().lists, 1);
}

TEST_F(ReflectorTest, WaitsAsLongAsTheServerAsks) {
  absl::Time refused;
  absl::Time asked_again;
  OnList(ListOf(10, {}));
  OnWatch([&](FakeReply& reply) {
    refused = absl::Now();
    reply.Respond(429, "", "Retry-After: 1\r\n");
  });
  OnWatch([&](FakeReply& reply) {
    asked_again = absl::Now();
    reply.BeginStream();
    reply.Chunk(Event("ADDED", Object("a", 11)));
    reply.HoldOpen();
  });
  Start();
  ASSERT_TRUE(WaitForLog(1));
  EXPECT_GE(asked_again - refused, absl::Seconds(1));
  EXPECT_EQ(reflector_->stats().lists, 1);
}

TEST_F(ReflectorTest, KeepsTryingUntilTheFirstListSucceeds) {
  OnList([](FakeReply& reply) { reply.Hangup(); });
  OnList([](FakeReply& reply) { reply.Hangup(); });
  OnList([](FakeReply& reply) { reply.Respond(403, ""); });
  OnList([](FakeReply& reply) { reply.Respond(404, ""); });
  OnList([](FakeReply& reply) { reply.Respond(200, "{\"items\":"); });
  OnList(ListOf(10, {Object("a", 3)}));
  Start();
  EXPECT_TRUE(reflector_->WaitForSync(kPatience));
  EXPECT_TRUE(store_.HasSynced());
  EXPECT_GE(reflector_->stats().list_errors, 4);
  EXPECT_TRUE(reflector_->stats().last_error.ok());
}

TEST_F(ReflectorTest, ReadsItsTokenAgainAfterA401) {
  const TempDir dir;
  const std::string token = dir.Write("token", "one");
  FakeApiServer server([](const FakeRequest& request, FakeReply& reply) {
    const bool watch = absl::StrContains(request.target, "watch=1");
    const std::string& wanted = watch ? "Bearer two" : "Bearer one";
    if (request.headers.at("authorization") != wanted) return reply.Respond(401, "");
    if (!watch) return reply.RespondJson(ListOf(10, {}));
    reply.BeginStream();
    reply.Chunk(Event("ADDED", Object("a", 11)));
    reply.HoldOpen();
  });
  ClientConfig config = server.Config();
  config.token_file = token;
  const auto transport = NewTransport(config, clock_).value();
  Client client(*transport);
  Reflector reflector(client, options_, store_, clock_);
  reflector.Start();
  EXPECT_TRUE(Eventually("a refused watch", [&] { return reflector.stats().watch_errors > 0; }));
  dir.Write("token", "two");
  EXPECT_TRUE(WaitForLog(1));
  EXPECT_EQ(reflector.stats().lists, 1);
}

}  // namespace
}  // namespace reclaim::kube::testing
