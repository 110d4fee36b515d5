// SPDX-License-Identifier: Apache-2.0
#include "common/log.h"

#include <gtest/gtest.h>

namespace reclaim {
namespace {

TEST(LogTest, WritesPlainValuesUnquoted) {
  EXPECT_EQ(
      FormatLogLine("T", LogLevel::kInfo, "policy applied", {{"node", "node1"}, {"workers", 4}}),
      "T INFO policy applied node=node1 workers=4\n");
}

TEST(LogTest, KeepsOneEventOnOneLine) {
  EXPECT_EQ(FormatLogLine("T", LogLevel::kError, "read failed", {{"error", "line 1\nx=\"y\""}}),
            "T ERROR read failed error=\"line 1\\nx=\\\"y\\\"\"\n");
}

TEST(LogTest, ShowsAnEmptyValue) {
  EXPECT_EQ(FormatLogLine("T", LogLevel::kDebug, "e", {{"policy", ""}}), "T DEBUG e policy=\"\"\n");
}

}  // namespace
}  // namespace reclaim
