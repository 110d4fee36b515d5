// SPDX-License-Identifier: Apache-2.0
#include "common/policy_text.h"

#include <gtest/gtest.h>

#include <string>

namespace reclaim {
namespace {

TEST(PolicyTextTest, TakesWholeQuantitiesUpToOnePebibyte) {
  EXPECT_EQ(PolicyQuantity("1"), 1);
  EXPECT_EQ(PolicyQuantity("16384000Ki"), int64_t{16384000} * 1024);
  EXPECT_EQ(PolicyQuantity("1024Ti"), int64_t{1} << 50);
  EXPECT_EQ(PolicyQuantity("999999999999999"), 999999999999999);
  for (const char* text : {"", "0", "07", "-1", "+1", "1.5Gi", "1Pi", "1025Ti", "1000000000000000",
                           "999999999999999Ti", "1e3", "1K", "1 Gi", "Gi", "1m"}) {
    EXPECT_EQ(PolicyQuantity(text), std::nullopt) << text;
  }
}

TEST(PolicyTextTest, TakesPlainPercentages) {
  EXPECT_EQ(PolicyPercent("0%"), 0);
  EXPECT_EQ(PolicyPercent("0.1%"), 0.1);
  EXPECT_EQ(PolicyPercent("9999.999%"), 9999.999);
  for (const char* text : {"", "%", "1", "00%", "01%", "1.%", ".5%", "1.2345%", "10000%", "-1%",
                           "1e2%", "1%%", " 1%"}) {
    EXPECT_EQ(PolicyPercent(text), std::nullopt) << text;
  }
}

TEST(PolicyTextTest, TakesPlainDurations) {
  EXPECT_EQ(PolicyDuration("0s"), absl::ZeroDuration());
  EXPECT_EQ(PolicyDuration("1h30m"), absl::Minutes(90));
  EXPECT_EQ(PolicyDuration("1.5s250ms"), absl::Milliseconds(1750));
  EXPECT_EQ(PolicyDuration("999999h999999h99999h"), absl::Hours(2099997));
  for (const char* text : {"", "0", "s", "1", "1d", "1us", "-1s", "+1s", "1000000s", "1.s", ".5s",
                           "1.2345s", "1s ", "1s1s1s1s1s1s1s1s1s1s1s"}) {
    EXPECT_EQ(PolicyDuration(text), std::nullopt) << text;
  }
}

TEST(PolicyTextTest, TakesRates) {
  for (const char* text : {"64Mi/m", "1/s", "1G/h", "10Gi/d"}) {
    EXPECT_TRUE(IsPolicyRate(text)) << text;
  }
  for (const char* text : {"", "/", "64Mi", "64Mi/", "/s", "0/s", "64Mi/ms", "64Mi/s/s", "1.5Gi/s",
                           "64Mi/m ", "100000000000000Ki/day"}) {
    EXPECT_FALSE(IsPolicyRate(text)) << text;
  }
}

TEST(PolicyTextTest, TakesNames) {
  EXPECT_TRUE(IsDnsLabel("batch-1"));
  EXPECT_TRUE(IsDnsLabel(std::string(63, 'a')));
  for (const std::string& text : {std::string(), std::string("-a"), std::string("a-"),
                                  std::string("A"), std::string("a.b"), std::string(64, 'a')}) {
    EXPECT_FALSE(IsDnsLabel(text)) << text;
  }
  for (const char* text : {"a", "pool", "topology.kubernetes.io/zone", "A_b.c-D"}) {
    EXPECT_TRUE(IsLabelKey(text)) << text;
  }
  for (const char* text : {"", "/a", "a/", "a/b/c", "no spaces", "Upper.example/a", "-a", "a-"}) {
    EXPECT_FALSE(IsLabelKey(text)) << text;
  }
  EXPECT_TRUE(IsLabelValue(""));
  EXPECT_TRUE(IsLabelValue("v1.2_x-Y"));
  EXPECT_FALSE(IsLabelValue("a b"));
  EXPECT_FALSE(IsLabelValue(std::string(64, 'a')));
}

TEST(PolicyTextTest, TakesAbsoluteCgroupPaths) {
  for (const char* text : {"/kubepods.slice", "/kubepods.slice/x-*", "/a/b:c@d",
                           "/system.slice/dev-disk\\x2dby.swap"}) {
    EXPECT_TRUE(IsCgroupPattern(text)) << text;
  }
  for (const char* text : {"", "/", "a", "a/b", "//a", "/a//b", "/a/", "/..", "/a/../b", "/./a",
                           "/.hidden", "/a b", "/a\tb", "/a\nb"}) {
    EXPECT_FALSE(IsCgroupPattern(text)) << text;
  }
  EXPECT_FALSE(IsCgroupPattern("/" + std::string(256, 'a')));
  std::string wide = "/";
  for (int i = 0; i < 255; ++i) wide += "\xc3\xa4";
  EXPECT_TRUE(IsCgroupPattern(wide));  // 256 characters, as the CRD counts
  EXPECT_FALSE(IsCgroupPattern(wide + "a"));
}

}  // namespace
}  // namespace reclaim
