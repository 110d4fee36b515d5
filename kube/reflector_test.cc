// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/store.h"
#include "kube/testing/fake_api_server.h"
#include "kube/testing/temp_dir.h"
#include "kube/testing/wait.h"

namespace reclaim::kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeApiServer;
using testing::FakeReply;
using testing::FakeRequest;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WaitFor;

Json Object(const std::string& name, int version, const std::string& uid = "") {
  return {{"metadata",
           {{"name", name},
            {"uid", uid.empty() ? "uid-" + name : uid},
            {"resourceVersion", absl::StrCat(version)}}}};
}

Json ListOf(int version, const std::vector<Json>& items, const std::string& next = "") {
  return {{"kind", "NodeList"},
          {"metadata", {{"resourceVersion", absl::StrCat(version)}, {"continue", next}}},
          {"items", items}};
}

std::string Event(const std::string& type, const Json& object) {
  return DumpJson({{"type", type}, {"object", object}}) + "\n";
}

std::string Bookmark(int version) {
  return Event("BOOKMARK", {{"metadata", {{"resourceVersion", absl::StrCat(version)}}}});
}

const Json kExpired = {
    {"kind", "Status"}, {"code", 410}, {"reason", "Expired"}, {"message", "too old"}};

// A reflector of nodes against a scripted server: each LIST and each WATCH takes the next step of
// its script; when a script is used up, a watch stays open and silent, and a list is an error.
class ReflectorTest : public ::testing::Test {
 protected:
  using Step = std::function<void(FakeReply& reply)>;

  ReflectorTest() {
    options_.resource = Nodes();
    options_.idle_timeout = absl::Seconds(60);
    options_.backoff = {.initial = absl::Milliseconds(1), .max = absl::Milliseconds(5)};
    store_.AddHandler({
        .added = [this](absl::string_view key,
                        const auto& now) { Log(absl::StrCat("+", key, "@", *now)); },
        .updated = [this](absl::string_view key, const auto&,
                          const auto& now) { Log(absl::StrCat("~", key, "@", *now)); },
        .deleted = [this](
                       absl::string_view key, const auto& last,
                       bool known) { Log(absl::StrCat("-", key, "@", *last, known ? "" : "?")); },
    });
  }

  ~ReflectorTest() override { reflector_.reset(); }

  void OnList(Step step) { lists_.push_back(std::move(step)); }
  void OnList(const Json& list) {
    OnList([list](FakeReply& reply) { reply.RespondJson(list); });
  }
  void OnWatch(Step step) { watches_.push_back(std::move(step)); }
  // A watch that sends `lines` and then stays open.
  void OnWatch(const std::string& lines) {
    OnWatch([lines](FakeReply& reply) {
      reply.BeginStream();
      reply.Chunk(lines);
      reply.HoldOpen();
    });
  }

  void Start() {
    server_ = std::make_unique<FakeApiServer>(
        [this](const FakeRequest& request, FakeReply& reply) { Serve(request, reply); });
    transport_ = NewTransport(server_->Config(), clock_).value();
    client_ = std::make_unique<Client>(*transport_);
    reflector_ = std::make_unique<Reflector>(*client_, options_, store_, clock_);
    reflector_->Start();
  }

  void Serve(const FakeRequest& request, FakeReply& reply) {
    const bool watch = absl::StrContains(request.target, "watch=1");
    Step step;
    {
      absl::MutexLock lock(&mutex_);
      // Only the parameters that the tests talk about.
      std::string query;
      const std::vector<std::string> parts = absl::StrSplit(request.target, absl::ByAnyChar("?&"));
      for (size_t i = 1; i < parts.size(); ++i) {
        if (absl::StartsWith(parts[i], "resourceVersion=") || absl::StartsWith(parts[i], "limit") ||
            absl::StartsWith(parts[i], "continue")) {
          absl::StrAppend(&query, " ", parts[i]);
        }
      }
      asked_.push_back(absl::StrCat(watch ? "WATCH" : "LIST", query));
      std::deque<Step>& script = watch ? watches_ : lists_;
      if (!script.empty()) {
        step = std::move(script.front());
        script.pop_front();
      }
    }
    if (step) return step(reply);
    if (!watch) return reply.Respond(500, "the script of the lists is used up");
    reply.BeginStream();
    reply.HoldOpen();
  }

  void Log(std::string entry) {
    absl::MutexLock lock(&mutex_);
    log_.push_back(std::move(entry));
  }

  std::vector<std::string> log() {
    absl::MutexLock lock(&mutex_);
    return log_;
  }

  std::vector<std::string> asked() {
    absl::MutexLock lock(&mutex_);
    return asked_;
  }

  // Waits until the server was asked `count` times.
  ::testing::AssertionResult WaitForRequests(size_t count) {
    return WaitFor(absl::StrCat(count, " requests; last log: ", absl::StrJoin(log(), " ")),
                   [this, count] { return asked().size() >= count; });
  }

  ::testing::AssertionResult WaitForLog(size_t count) {
    return WaitFor(absl::StrCat(count, " changes; asked: ", absl::StrJoin(asked(), "; ")),
                   [this, count] { return log().size() >= count; });
  }

  SystemClock clock_;
  ReflectorOptions options_;
  absl::Mutex mutex_;
  std::deque<Step> lists_ ABSL_GUARDED_BY(mutex_);
  std::deque<Step> watches_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
  // What is stored of an object is its resource version.
  Store<std::string> store_{
      [](const Json& object) -> absl::StatusOr<std::string> { return ResourceVersionOf(object); }};
  std::unique_ptr<FakeApiServer> server_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Reflector> reflector_;
};

TEST_F(ReflectorTest, ListsThenWatchesFromTheVersionOfTheList) {
  OnList(ListOf(10, {Object("a", 3), Object("b", 7)}));
  OnWatch(Event("MODIFIED", Object("a", 11)) + Event("ADDED", Object("c", 12)) +
          Event("DELETED", Object("b", 13)));
  Start();
  EXPECT_TRUE(reflector_->WaitForSync(testing::kPatience));
  ASSERT_TRUE(WaitForLog(5));
  EXPECT_THAT(log(), ElementsAre("+a@3", "+b@7", "~a@11", "+c@12", "-b@13"));
  EXPECT_THAT(asked(), ElementsAre("LIST resourceVersion=0 limit=500", "WATCH resourceVersion=10"));
  EXPECT_THAT(server_->requests()[1].target,
              AllOf(HasSubstr("allowWatchBookmarks=true"), HasSubstr("timeoutSeconds=")));
  const ReflectorStats stats = reflector_->stats();
  EXPECT_EQ(stats.lists, 1);
  EXPECT_EQ(stats.watches, 1);
  EXPECT_EQ(stats.events, 3);
  EXPECT_GT(stats.last_contact, absl::InfinitePast());
}

TEST_F(ReflectorTest, ServerTimeoutIsDrawnBetweenFiveAndTenMinutes) {
  OnList(ListOf(1, {}));
  for (int i = 0; i < 20; ++i) {
    OnWatch([](FakeReply& reply) {
      reply.BeginStream();
      reply.Chunk(Bookmark(2));
      reply.EndStream();
    });
  }
  Start();
  ASSERT_TRUE(WaitForRequests(20));
  std::set<int> seconds;
  for (const FakeRequest& request : server_->requests()) {
    const std::vector<std::string> parts = absl::StrSplit(request.target, "timeoutSeconds=");
    if (parts.size() == 2) seconds.insert(std::stoi(parts[1]));
  }
  EXPECT_GE(*seconds.begin(), 300);
  EXPECT_LE(*seconds.rbegin(), 600);
  EXPECT_GT(seconds.size(), 5);
}

TEST_F(ReflectorTest, ACleanEndIsFollowedByAWatchFromTheLastBookmark) {
  OnList(ListOf(10, {Object("a", 3)}));
  OnWatch([](FakeReply& reply) {
    reply.BeginStream();
    reply.Chunk(Event("MODIFIED", Object("a", 11)) + Bookmark(40));
    reply.EndStream();
  });
  Start();
  ASSERT_TRUE(WaitForRequests(3));
  EXPECT_EQ(asked()[2], "WATCH resourceVersion=40");
  EXPECT_EQ(reflector_->stats().watch_errors, 0);
  EXPECT_EQ(reflector_->stats().bookmarks, 1);
}

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
  for (const Json& refusal : {kExpired, too_large}) {
    OnList(ListOf(10, {}));
    OnWatch(Event("ERROR", kExpired));
    OnList([refusal](FakeReply& reply) {
      reply.Respond(refusal["code"].get<int>(), DumpJson(refusal));
    });
    OnList(ListOf(90, {}));
  }
  Start();
  ASSERT_TRUE(WaitForRequests(5));
  EXPECT_THAT(asked(), ElementsAre("LIST resourceVersion=0 limit=500", "WATCH resourceVersion=10",
                                   "LIST resourceVersion=10", "LIST limit=500",
                                   ::testing::StartsWith("WATCH resourceVersion=")));
}

TEST_F(ReflectorTest, LinesMayBeCutAnywhere) {
  OnList(ListOf(10, {}));
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += Event("ADDED", Object(absl::StrCat("n", i), 11 + i));
  OnWatch([lines](FakeReply& reply) {
    reply.BeginStream();
    for (size_t at = 0; at < lines.size(); at += 7) reply.Chunk(lines.substr(at, 7));
    reply.HoldOpen();
  });
  Start();
  ASSERT_TRUE(WaitForLog(20));
  EXPECT_EQ(log().back(), "+n19@30");
  EXPECT_EQ(reflector_->stats().watch_errors, 0);
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
  EXPECT_TRUE(reflector_->WaitForSync(testing::kPatience));
  EXPECT_TRUE(store_.HasSynced());
  EXPECT_GE(reflector_->stats().list_errors, 4);
  EXPECT_TRUE(reflector_->stats().last_error.ok());
}

TEST_F(ReflectorTest, IsNotSyncedWhileListsFailAndStopEndsTheWait) {
  options_.backoff = {.initial = absl::Hours(1), .max = absl::Hours(1)};
  Start();
  EXPECT_TRUE(WaitFor("a failed list", [&] { return reflector_->stats().list_errors == 1; }));
  EXPECT_FALSE(reflector_->WaitForSync(absl::Milliseconds(1)));
  EXPECT_FALSE(reflector_->HasSynced());
  EXPECT_FALSE(reflector_->stats().last_error.ok());
  reflector_->Stop();  // although the next attempt is an hour away
  EXPECT_FALSE(reflector_->WaitForSync(absl::Hours(1)));
}

TEST_F(ReflectorTest, StopEndsASilentWatchAtOnce) {
  options_.idle_timeout = absl::Hours(1);
  OnList(ListOf(10, {}));
  Start();
  ASSERT_TRUE(WaitForRequests(2));
  reflector_->Stop();
}

TEST_F(ReflectorTest, ReadsItsTokenAgainAfterA401) {
  const testing::TempDir dir;
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
  EXPECT_TRUE(WaitFor("a refused watch", [&] { return reflector.stats().watch_errors > 0; }));
  dir.Write("token", "two");
  EXPECT_TRUE(WaitForLog(1));
  EXPECT_EQ(reflector.stats().lists, 1);
}

}  // namespace
}  // namespace reclaim::kube
