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
    const char* path;
    const char* body;
    int status;
    bool synced;
  };
  constexpr Case kCases[] = {
      {"/healthz", "ok", 200, false},
      {"/healthz?verbose", "[+]loop ok\nok\n", 200, false},
      {"/readyz", "[+]loop ok\n[-]caches failed: policies are not in sync\nfailed\n", 503, false},
      {"/readyz", "ok", 200, true},
      {"/readyz?verbose", "[+]loop ok\n[+]caches ok\nok\n", 200, true},
      {"/metrics", "not found; there is:\n/healthz\n/readyz\n", 404, true},
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
