// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_event.h"

#include "gtest/gtest.h"
#include "kube/status.h"

namespace reclaim::kube {
namespace {

TEST(WatchEventTest, ReadsTheFourKindsOfEvents) {
  const struct {
    const char* line;
    WatchEvent::Type type;
  } kCases[] = {
      {R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})", WatchEvent::Type::kAdded},
      {R"({"type":"MODIFIED","object":{"metadata":{"name":"a"}}})", WatchEvent::Type::kModified},
      {R"({"type":"DELETED","object":{"metadata":{"name":"a"}}})", WatchEvent::Type::kDeleted},
      {R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})",
       WatchEvent::Type::kBookmark},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<WatchEvent> event = ParseWatchEvent(c.line);
    ASSERT_TRUE(event.ok()) << c.line << ": " << event.status();
    EXPECT_EQ(event->type, c.type);
  }
}

TEST(WatchEventTest, AnErrorEventBecomesItsStatus) {
  const absl::StatusOr<WatchEvent> event = ParseWatchEvent(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}})");
  EXPECT_TRUE(IsGone(event.status())) << event.status();
}

TEST(WatchEventTest, AnErrorEventIsNeverTakenForSuccess) {
  for (const char* line :
       {R"({"type":"ERROR","object":{}})", R"({"type":"ERROR","object":{"code":200}})",
        R"({"type":"ERROR","object":{"code":"410"}})"}) {
    EXPECT_FALSE(ParseWatchEvent(line).ok()) << line;
  }
}

TEST(WatchEventTest, RefusesWhatIsNoEvent) {
  for (const char* line :
       {"", "{", "null", "[]", "7", R"({"type":"ADDED"})", R"({"type":"ADDED","object":[]})",
        R"({"type":"ADDED","object":{}})", R"({"type":"NEW","object":{"metadata":{"name":"a"}}})",
        R"({"object":{"metadata":{"name":"a"}}})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseWatchEvent(line).status())) << line;
  }
}

}  // namespace
}  // namespace reclaim::kube
