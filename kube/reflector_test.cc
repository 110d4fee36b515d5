// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/reflector_fixture.h"

namespace reclaim::kube::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ReflectorTest, ListsThenWatchesFromTheVersionOfTheList) {
  OnList(ListOf(10, {Object("a", 3), Object("b", 7)}));
  OnWatch(Event("MODIFIED", Object("a", 11)) + Event("ADDED", Object("c", 12)) +
          Event("DELETED", Object("b", 13)));
  Start();
  EXPECT_TRUE(reflector_->WaitForSync(kPatience));
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

TEST_F(ReflectorTest, IsNotSyncedWhileListsFailAndStopEndsTheWait) {
  options_.backoff = {.initial = absl::Hours(1), .max = absl::Hours(1)};
  Start();
  EXPECT_TRUE(Eventually("a failed list", [&] { return reflector_->stats().list_errors == 1; }));
  EXPECT_FALSE(reflector_->WaitForSync(absl::Milliseconds(1)));
  EXPECT_FALSE(reflector_->HasSynced());
  EXPECT_FALSE(reflector_->stats().last_error.ok());
  reflector_->Stop();  // although the next attempt is an hour away
  EXPECT_FALSE(reflector_->WaitForSync(absl::Hours(1)));
}

TEST_F(ReflectorTest, StopEndsASilentListAndAWaitForItsRetryAtOnce) {
  for (const bool silent : {true, false}) {
    OnList([silent](FakeReply& reply) {
      if (silent) return reply.HoldOpen();
      reply.Respond(503, "", "Retry-After: 60\r\n");
    });
    Start();
    ASSERT_TRUE(WaitForRequests(silent ? 1 : 2));
    const absl::Time begin = absl::Now();
    reflector_->Stop();
    EXPECT_LT(absl::Now() - begin, absl::Seconds(20));  // neither the request's 30 s nor the 60 s
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, StopEndsASilentWatchAtOnce) {
  options_.idle_timeout = absl::Hours(1);
  OnList(ListOf(10, {}));
  Start();
  ASSERT_TRUE(WaitForRequests(2));
  reflector_->Stop();
}

}  // namespace
}  // namespace reclaim::kube::testing
