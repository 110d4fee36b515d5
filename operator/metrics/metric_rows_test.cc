// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/metric_rows.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "operator/metrics/request_metrics.h"
#include "prometheus/registry.h"

namespace reclaim::op {
namespace {

TEST(MetricRows, FollowTheConventions) {
  const absl::Status status = CheckMetricTable(rows::Table());
  EXPECT_TRUE(status.ok()) << status;
}

TEST(MetricRows, AreTheReferencePage) {
  std::ostringstream page;
  page << std::ifstream(RECLAIM_SOURCE_DIR "/docs/metrics-operator.md").rdbuf();
  EXPECT_EQ(page.str(), OperatorMetricReference())
      << "docs/metrics-operator.md is what `reclaim-operator --metrics-reference` prints";
}

TEST(RequestMetrics, CountByCodeMethodAndHost) {
  prometheus::Registry registry;
  RequestMetrics metrics(registry, "10.0.0.1:443");
  metrics.OnRequest("GET", "200");
  metrics.OnRequest("GET", "200");
  metrics.OnRequest("PATCH", "<error>");
  const auto families = registry.Collect();
  EXPECT_TRUE(CheckFamilies(families, rows::Table()).ok());
  ASSERT_EQ(families.size(), 1u);
  double sum = 0;
  for (const auto& metric : families[0].metric) sum += metric.counter.value;
  EXPECT_EQ(families[0].metric.size(), 2u);
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace reclaim::op
