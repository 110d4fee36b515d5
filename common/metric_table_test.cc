// SPDX-License-Identifier: Apache-2.0
#include "common/metric_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reclaim {
namespace {

using ::prometheus::MetricType;
using ::testing::HasSubstr;

TEST(MetricTableTest, AcceptsGoodRows) {
  const MetricRow rows[] = {
      {"reclaim_pages_total", MetricType::Counter, "Pages.", {"numa_node"}},
      {"reclaim_free_bytes", MetricType::Gauge, "Free memory."},
      {"reclaim_apply_duration_seconds", MetricType::Histogram, "Time to apply."},
  };
  EXPECT_TRUE(CheckMetricTable(rows).ok()) << CheckMetricTable(rows);
}

TEST(MetricTableTest, NamesTheRowThatBreaksAConvention) {
  struct Case {
    MetricRow row;
    const char* why;
  };
  const Case cases[] = {
      {{"1x", MetricType::Gauge, "X."}, "valid metric name"},
      {{"x", MetricType::Counter, "X."}, "_total"},
      {{"x_total", MetricType::Gauge, "X."}, "_total"},
      {{"x_ms", MetricType::Gauge, "X."}, "base unit"},
      {{"x_ms_total", MetricType::Counter, "X."}, "base unit"},
      {{"x", MetricType::Gauge, "no period"}, "period"},
      {{"x", MetricType::Gauge, "two\nlines."}, "one line"},
      {{"x", MetricType::Gauge, "X.", {"a-b"}}, "label a-b"},
      {{"x", MetricType::Gauge, "X.", {"__a"}}, "label __a"},
  };
  for (const Case& c : cases) {
    const absl::Status status = CheckMetricTable(absl::MakeConstSpan(&c.row, 1));
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.why)) << c.row.name;
  }
  const MetricRow twice[] = {{"x", MetricType::Gauge, "X."}, {"x", MetricType::Gauge, "X."}};
  EXPECT_THAT(std::string(CheckMetricTable(twice).message()), HasSubstr("twice"));
}

TEST(MetricTableTest, HoldsFamiliesAgainstTheTable) {
  const MetricRow row = {"x_total", MetricType::Counter, "X.", {"a", "b"}};
  const auto table = absl::MakeConstSpan(&row, 1);
  prometheus::MetricFamily family = NewFamily(row);
  AddSample(row, {"1", "2"}, 7, family);
  EXPECT_EQ(family.metric[0].counter.value, 7);
  EXPECT_EQ(family.metric[0].label[1].name, "b");
  EXPECT_EQ(family.metric[0].label[1].value, "2");
  EXPECT_TRUE(CheckFamilies({family}, table).ok());

  prometheus::MetricFamily other_label = family;
  other_label.metric[0].label[0].name = "c";
  EXPECT_THAT(std::string(CheckFamilies({other_label}, table).message()), HasSubstr("{b,c}"));
  prometheus::MetricFamily other_name = family;
  other_name.name = "y_total";
  EXPECT_THAT(std::string(CheckFamilies({other_name}, table).message()), HasSubstr("not in"));
  prometheus::MetricFamily other_type = family;
  other_type.type = MetricType::Gauge;
  EXPECT_THAT(std::string(CheckFamilies({other_type}, table).message()), HasSubstr("type"));
  prometheus::MetricFamily other_help = family;
  other_help.help = "Y.";
  EXPECT_THAT(std::string(CheckFamilies({other_help}, table).message()), HasSubstr("help"));
}

TEST(MetricTableDeathTest, StopsAtAWrongNumberOfLabels) {
  const MetricRow row = {"x", MetricType::Gauge, "X.", {"a"}};
  prometheus::MetricFamily family = NewFamily(row);
  EXPECT_DEATH(AddSample(row, {}, 1, family), "another number of labels");
}

TEST(MetricTableTest, RendersTheReferencePage) {
  const MetricRow rows[] = {{"x_total", MetricType::Counter, "X.", {"a", "b"}},
                            {"y", MetricType::Gauge, "Y."}};
  EXPECT_EQ(MetricReference(rows),
            "| Metric | Type | Labels | Meaning |\n"
            "|---|---|---|---|\n"
            "| `x_total` | counter | `a`, `b` | X. |\n"
            "| `y` | gauge |  | Y. |\n");
}

}  // namespace
}  // namespace reclaim
