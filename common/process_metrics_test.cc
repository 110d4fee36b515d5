// SPDX-License-Identifier: Apache-2.0
#include "common/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

namespace reclaim {
namespace {

std::map<std::string, double> Values(const ProcessMetrics& metrics) {
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : metrics.Collect()) {
    values[family.name] = family.type == prometheus::MetricType::Counter
                              ? family.metric[0].counter.value
                              : family.metric[0].gauge.value;
  }
  return values;
}

TEST(ProcessMetricsTest, DescribesThisProcess) {
  const ProcessMetrics metrics("test");
  const auto values = Values(metrics);
  EXPECT_EQ(values.size(), ProcessMetrics::Table().size());
  EXPECT_GT(values.at("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(values.at("process_virtual_memory_bytes"), values.at("process_resident_memory_bytes"));
  EXPECT_GE(values.at("process_threads"), 1);
  EXPECT_GE(values.at("process_open_fds"), 3);
  EXPECT_GE(values.at("process_max_fds"), values.at("process_open_fds"));
  EXPECT_NEAR(values.at("process_start_time_seconds"), static_cast<double>(time(nullptr)), 60);
  EXPECT_EQ(values.at("reclaim_build_info"), 1);
  EXPECT_TRUE(CheckMetricTable(ProcessMetrics::Table()).ok());
  EXPECT_TRUE(CheckFamilies(metrics.Collect(), ProcessMetrics::Table()).ok());
}

TEST(ProcessMetricsTest, ReadsACommandWithBlanksAndBrackets) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / absl::StrCat("process_metrics_", getpid());
  std::filesystem::create_directories(root / "self");
  std::ofstream(root / "self/stat")
      << "7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 250 150 0 0 20 0 "
         "3 0 1000 8192000 25 18446744073709551615 1\n";
  std::ofstream(root / "stat") << "cpu 1 2 3\nbtime 1700000000\n";
  std::ofstream(root / "self/limits") << "Max open files            unlimited            1 files\n";
  const auto values = Values(ProcessMetrics("test", root.string()));
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(values.at("process_cpu_seconds_total"), 400 / ticks);
  EXPECT_EQ(values.at("process_threads"), 3);
  EXPECT_DOUBLE_EQ(values.at("process_start_time_seconds"), 1700000000 + 1000 / ticks);
  EXPECT_EQ(values.at("process_virtual_memory_bytes"), 8192000);
  EXPECT_EQ(values.at("process_resident_memory_bytes"), 25.0 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(values.at("process_max_fds"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(values.count("process_open_fds"), 0u);  // no self/fd there: left out, not zero
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace reclaim
