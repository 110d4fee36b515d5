// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_retry.h"

#include "gtest/gtest.h"
#include "kube/status.h"

namespace reclaim::kube {
namespace {

constexpr absl::Duration kLong = absl::Minutes(5);
constexpr absl::Duration kShort = absl::Milliseconds(300);

absl::Status Http(int code) { return MakeApiStatus("WATCH x", code, ""); }

absl::Status TooLarge() {
  return MakeApiStatus("WATCH x", 504, R"({"kind":"Status","reason":"Timeout",
      "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})");
}

TEST(WatchRetryTest, DecidesByHowTheWatchEnded) {
  const struct {
    const char* name;
    absl::Status status;
    absl::Duration lasted;
    int64_t events;
    AfterWatch expected;
    bool opened = true;
    bool after_wait = false;
  } kCases[] = {
      {"server's deadline", absl::OkStatus(), kLong, 0, AfterWatch::kWatchAgain},
      {"clean end after an event", absl::OkStatus(), kShort, 1, AfterWatch::kWatchAgain},
      {"proxy that closes at once", absl::OkStatus(), kShort, 0, AfterWatch::kWaitThenListAgain},
      {"history gone after a good watch", Http(410), kLong, 3, AfterWatch::kListAgain},
      {"history gone when opening", Http(410), kShort, 0, AfterWatch::kWaitThenListAgain},
      {"history gone over an outage", Http(410), kShort, 0, AfterWatch::kListAgain, true, true},
      {"refused", absl::UnavailableError(""), kShort, 0, AfterWatch::kWaitThenWatch, false},
      {"no answer", absl::DeadlineExceededError(""), kLong, 0, AfterWatch::kWaitThenWatch, false},
      {"reset", absl::UnavailableError(""), kLong, 9, AfterWatch::kWaitThenWatch},
      {"half-open or quiet", absl::DeadlineExceededError(""), kLong, 0, AfterWatch::kWatchAgain},
      {"401", Http(401), kShort, 0, AfterWatch::kWaitThenWatch},
      {"429", Http(429), kShort, 0, AfterWatch::kWaitThenWatch},
      {"502", Http(502), kShort, 0, AfterWatch::kWaitThenWatch},
      {"503", Http(503), kShort, 0, AfterWatch::kWaitThenWatch},
      {"504", Http(504), kShort, 0, AfterWatch::kWaitThenWatch},
      {"restored etcd", TooLarge(), kShort, 0, AfterWatch::kWaitThenListAgain},
      {"403", Http(403), kShort, 0, AfterWatch::kWaitThenListAgain},
      {"404, CRD not there", Http(404), kShort, 0, AfterWatch::kWaitThenListAgain},
      {"500", Http(500), kLong, 5, AfterWatch::kWaitThenListAgain},
      {"no JSON", absl::InvalidArgumentError(""), kLong, 5, AfterWatch::kWaitThenListAgain},
      {"giant line", absl::ResourceExhaustedError(""), kLong, 5, AfterWatch::kWaitThenListAgain},
  };
  for (const auto& c : kCases) {
    const WatchEnd end = {.status = c.status,
                          .lasted = c.lasted,
                          .opened = c.opened,
                          .events = c.events,
                          .after_wait = c.after_wait};
    EXPECT_EQ(DecideAfterWatch(end), c.expected) << c.name;
  }
}

}  // namespace
}  // namespace reclaim::kube
