// SPDX-License-Identifier: Apache-2.0
#include "common/metrics_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <stdexcept>

#include "prometheus/counter.h"
#include "prometheus/registry.h"

namespace reclaim {
namespace {

using ::testing::HasSubstr;

class Throwing : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override {
    throw std::runtime_error("cannot read");
  }
};

TEST(MetricsEndpointTest, ServesEverySourceAndCountsTheOneThatThrows) {
  prometheus::Registry registry;
  prometheus::BuildCounter()
      .Name("test_requests_total")
      .Help("Requests.")
      .Register(registry)
      .Add({{"code", "200"}})
      .Increment(3);
  const Throwing throwing;
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", {&throwing, &registry});
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  httplib::Client client("127.0.0.1", (*endpoint)->port());
  for (const char* failures : {"1", "2"}) {
    const httplib::Result result = client.Get("/metrics");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 200);
    EXPECT_EQ(result->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_THAT(result->body, HasSubstr("test_requests_total{code=\"200\"} 3\n"));
    EXPECT_THAT(result->body,
                HasSubstr(absl::StrCat("reclaim_metrics_source_errors_total ", failures, "\n")));
  }
}

TEST(MetricsEndpointTest, ItsOwnRowsFollowTheConventions) {
  EXPECT_TRUE(CheckMetricTable(MetricsEndpoint::Table()).ok());
}

}  // namespace
}  // namespace reclaim
