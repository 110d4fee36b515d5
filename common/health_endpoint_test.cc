// SPDX-License-Identifier: Apache-2.0
#include "common/health_endpoint.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>

namespace reclaim {
namespace {

TEST(HealthEndpointTest, SaysWhichCheckFailsAndWhy) {
  std::atomic<bool> synced = false;
  auto endpoint = HealthEndpoint::Start(
      "127.0.0.1:0", {{"loop", [] { return absl::OkStatus(); }}},
      {{"loop", [] { return absl::OkStatus(); }},
       {"caches", [&synced] {
          return synced ? absl::OkStatus() : absl::UnavailableError("policies are not in sync");
        }}});
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  httplib::Client client("127.0.0.1", (*endpoint)->port());

  struct Case {
    bool synced;
    const char* path;
    int status;
    const char* body;
  };
  constexpr Case kCases[] = {
      {false, "/healthz", 200, "ok"},
      {false, "/healthz?verbose", 200, "[+]loop ok\nok\n"},
      {false, "/readyz", 503, "[+]loop ok\n[-]caches failed: policies are not in sync\nfailed\n"},
      {true, "/readyz", 200, "ok"},
      {true, "/readyz?verbose", 200, "[+]loop ok\n[+]caches ok\nok\n"},
      {true, "/metrics", 404, "not found; there is:\n/healthz\n/readyz\n"},
  };
  for (const Case& c : kCases) {
    synced = c.synced;
    const httplib::Result result = client.Get(c.path);
    ASSERT_TRUE(result) << c.path;
    EXPECT_EQ(result->status, c.status) << c.path;
    EXPECT_EQ(result->body, c.body) << c.path;
  }
}

}  // namespace
}  // namespace reclaim
