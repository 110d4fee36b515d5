// SPDX-License-Identifier: Apache-2.0
#include "common/int_or_percent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "google/protobuf/util/json_util.h"

namespace reclaim {
namespace {

google::protobuf::Value FromJson(const std::string& json) {
  google::protobuf::Value value;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &value).ok()) << json;
  return value;
}

TEST(IntOrPercentTest, CountsOfATotal) {
  struct Case {
    const char* json;
    int32_t total;
    int32_t count;
  };
  constexpr Case kCases[] = {
      {"0", 10, 0},         {"1", 10, 1},
      {"25", 10, 10},       {"1", 0, 0},
      {"\"0%\"", 10, 0},    {"\"10%\"", 10, 1},
      {"\"10%\"", 11, 2},   {"\"0.1%\"", 10, 1},
      {"\"7%\"", 100, 7},   {"\"29%\"", 100, 29},
      {"\"100%\"", 10, 10}, {"\"150%\"", 10, 10},
      {"\"10%\"", 0, 0},    {"\"100%\"", 2147483647, 2147483647},
  };
  for (const Case& c : kCases) {
    const auto parsed = ParseIntOrPercent(FromJson(c.json));
    ASSERT_TRUE(parsed.ok()) << c.json << ": " << parsed.status();
    EXPECT_EQ(parsed->CountOf(c.total), c.count) << c.json << " of " << c.total;
  }
}

TEST(IntOrPercentTest, RefusesAnythingElseWithAnExample) {
  for (const char* json :
       {"-1", "1.5", "1e10", "\"1\"", "\"ten\"", "\"-1%\"", "true", "null", "[1]", "{\"a\": 1}"}) {
    const auto parsed = ParseIntOrPercent(FromJson(json));
    ASSERT_FALSE(parsed.ok()) << json;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(parsed.status().message(), ::testing::HasSubstr("such as")) << json;
  }
}

}  // namespace
}  // namespace reclaim
