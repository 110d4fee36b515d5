// SPDX-License-Identifier: Apache-2.0
#include "common/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace reclaim {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(UnitsTest, ParsesQuantities) {
  struct Case {
    const char* text;
    int64_t bytes;
  };
  constexpr Case kCases[] = {
      {"0", 0},
      {"-0", 0},
      {"0.000n", 0},
      {"0e9999", 0},
      {"1", 1},
      {"+1", 1},
      {"-1", -1},
      {"007", 7},
      {"1.", 1},
      {"1.000", 1},
      {".5k", 500},
      {"1Ki", 1024},
      {"512Mi", 536870912},
      {"1.5Gi", 1610612736},
      {"0.5Ki", 512},
      {"0.0009765625Ki", 1},
      {"2Ti", 2199023255552},
      {"3Pi", 3377699720527872},
      {"7Ei", 8070450532247928832},
      {"1k", 1000},
      {"1M", 1000000},
      {"1.1G", 1100000000},
      {"1T", 1000000000000},
      {"1P", 1000000000000000},
      {"9E", 9000000000000000000},
      {"1000m", 1},
      {"5000000u", 5},
      {"1000000000n", 1},
      {"1e3", 1000},
      {"1E3", 1000},
      {"1e+3", 1000},
      {"1500e-2", 15},
      {"9223372036854775807", kMax},
      {"-9223372036854775808", kMin},
      {"-8Ei", kMin},
  };
  for (const Case& c : kCases) {
    const absl::StatusOr<int64_t> bytes = ParseQuantity(c.text);
    ASSERT_TRUE(bytes.ok()) << c.text << ": " << bytes.status();
    EXPECT_EQ(*bytes, c.bytes) << c.text;
  }
}

TEST(UnitsTest, RefusesQuantitiesWithASentence) {
  struct Case {
    const char* text;
    const char* why;
  };
  constexpr Case kCases[] = {
      {"", "no number"},
      {"-", "no number"},
      {".", "no number"},
      {"Mi", "no number"},
      {"many", "no number"},
      {" 1", "no number"},
      {"1 ", "unknown suffix"},
      {"1 Mi", "unknown suffix"},
      {"1mi", "unknown suffix \"mi\""},
      {"1MB", "unknown suffix \"MB\""},
      {"1K", "unknown suffix \"K\""},
      {"1e", "unknown suffix"},
      {"1e+", "unknown suffix"},
      {"1ee3", "unknown suffix"},
      {"1e99999", "unknown suffix"},
      {"1..5", "unknown suffix"},
      {"--1", "no number"},
      {"0x10", "unknown suffix"},
      {"0.5", "whole number of bytes"},
      {"1.1Ki", "whole number of bytes"},
      {"1.0005k", "whole number of bytes"},
      {"1e-1", "whole number of bytes"},
      {"1u", "whole number of bytes"},
      {"512m", "the suffix m is a thousandth"},
      {"9223372036854775808", "does not fit in 64 bits"},
      {"-9223372036854775809", "does not fit in 64 bits"},
      {"8Ei", "does not fit in 64 bits"},
      {"10E", "does not fit in 64 bits"},
      {"1e9999", "does not fit in 64 bits"},
      {"100000000000000000000000000000000000000", "too many digits"},
  };
  for (const Case& c : kCases) {
    const absl::StatusOr<int64_t> bytes = ParseQuantity(c.text);
    ASSERT_FALSE(bytes.ok()) << c.text << " gave " << *bytes;
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(bytes.status().message(), HasSubstr(c.why)) << c.text;
    EXPECT_THAT(bytes.status().message(), HasSubstr("such as 512Mi")) << c.text;
  }
}

TEST(UnitsTest, FormatsQuantitiesShortAndExact) {
  struct Case {
    int64_t bytes;
    const char* text;
  };
  constexpr Case kCases[] = {
      {0, "0"},         {1, "1"},
      {1000, "1000"},   {1024, "1Ki"},
      {-1024, "-1Ki"},  {1536, "1536"},
      {1 << 20, "1Mi"}, {536870912, "512Mi"},
      {kMin, "-8Ei"},   {kMax, "9223372036854775807"},
  };
  for (const Case& c : kCases) EXPECT_EQ(FormatQuantity(c.bytes), c.text);
}

TEST(UnitsTest, ParsesDurations) {
  struct Case {
    const char* text;
    absl::Duration duration;
  };
  const Case cases[] = {
      {"0", absl::ZeroDuration()},
      {"-0", absl::ZeroDuration()},
      {"0s", absl::ZeroDuration()},
      {"30s", absl::Seconds(30)},
      {"10m", absl::Minutes(10)},
      {"1h30m", absl::Minutes(90)},
      {"1.5h", absl::Minutes(90)},
      {".5s", absl::Milliseconds(500)},
      {"1.s", absl::Seconds(1)},
      {"-2s", -absl::Seconds(2)},
      {"+2s", absl::Seconds(2)},
      {"300ms", absl::Milliseconds(300)},
      {"7us", absl::Microseconds(7)},
      {"7µs", absl::Microseconds(7)},
      {"7μs", absl::Microseconds(7)},
      {"7ns", absl::Nanoseconds(7)},
      {"1m1m", absl::Minutes(2)},
      {"0.0000000019s", absl::Nanoseconds(1)},
      {"0.33333333333333333333h", absl::Nanoseconds(1199999999999)},
      {"2562047h", absl::Hours(2562047)},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<absl::Duration> duration = ParseDuration(c.text);
    ASSERT_TRUE(duration.ok()) << c.text << ": " << duration.status();
    EXPECT_EQ(*duration, c.duration) << c.text;
  }
}

TEST(UnitsTest, RefusesDurationsWithASentence) {
  struct Case {
    const char* text;
    const char* why;
  };
  constexpr Case kCases[] = {
      {"", "empty"},
      {"-", "empty"},
      {"30", "has no unit"},
      {"1d", "unknown unit"},
      {"1h30", "has no unit"},
      {"soon", "no number"},
      {"s", "no number"},
      {"1S", "unknown unit"},
      {"1 s", "unknown unit"},
      {"1s ", "no number"},
      {"2562048h", "292 years"},
      {"1h-1m", "no number"},
      {"inf", "no number"},
      {"9999999999999999999999999999h", "292 years"},
  };
  for (const Case& c : kCases) {
    const absl::StatusOr<absl::Duration> duration = ParseDuration(c.text);
    ASSERT_FALSE(duration.ok()) << c.text << " gave " << *duration;
    EXPECT_THAT(duration.status().message(), HasSubstr(c.why)) << c.text;
    EXPECT_THAT(duration.status().message(), HasSubstr("such as 30s")) << c.text;
  }
}

TEST(UnitsTest, ParsesPercentages) {
  struct Case {
    const char* text;
    double ratio;
  };
  constexpr Case kCases[] = {{"0%", 0},     {"0.1%", 0.001}, {"1%", 0.01},  {"12.5%", 0.125},
                             {"100%", 1.0}, {"150%", 1.5},   {".5%", 0.005}};
  for (const Case& c : kCases) {
    const absl::StatusOr<double> ratio = ParsePercent(c.text);
    ASSERT_TRUE(ratio.ok()) << c.text << ": " << ratio.status();
    EXPECT_DOUBLE_EQ(*ratio, c.ratio) << c.text;
  }
  for (const char* text :
       {"", "%", "1", "-1%", "+1%", "1 %", "1%%", "1e2%", "nan%", "inf%", "0x1%"}) {
    const absl::StatusOr<double> ratio = ParsePercent(text);
    ASSERT_FALSE(ratio.ok()) << text << " gave " << *ratio;
    EXPECT_THAT(ratio.status().message(), HasSubstr("such as 0.1%")) << text;
  }
}

TEST(UnitsTest, ParsesRates) {
  struct Case {
    const char* text;
    int64_t bytes;
    absl::Duration period;
    double bytes_per_second;
  };
  const Case cases[] = {
      {"64Mi/m", 64 << 20, absl::Minutes(1), 1118481.0666666667},
      {"1k/s", 1000, absl::Seconds(1), 1000},
      {"36M/h", 36000000, absl::Hours(1), 10000},
      {"10Gi/d", 10737418240, absl::Hours(24), 124275.67407407407},
      {"0/s", 0, absl::Seconds(1), 0},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<Rate> rate = ParseRate(c.text);
    ASSERT_TRUE(rate.ok()) << c.text << ": " << rate.status();
    EXPECT_EQ(rate->bytes, c.bytes) << c.text;
    EXPECT_EQ(rate->period, c.period) << c.text;
    EXPECT_DOUBLE_EQ(rate->BytesPerSecond(), c.bytes_per_second) << c.text;
  }
  for (const char* text :
       {"", "/", "64Mi", "64Mi/", "/m", "64Mi/min", "64Mi/ms", "-1/s", "1//s", "x/s"}) {
    const absl::StatusOr<Rate> rate = ParseRate(text);
    ASSERT_FALSE(rate.ok()) << text;
    EXPECT_THAT(rate.status().message(), HasSubstr("such as 64Mi/m")) << text;
  }
}

TEST(UnitsTest, ShowsUnprintableInputEscapedAndCut) {
  const absl::Status status = ParseQuantity(std::string(200, '\x01')).status();
  EXPECT_THAT(status.message(), HasSubstr("\\x01\\x01"));
  EXPECT_THAT(status.message(), HasSubstr("…"));
  EXPECT_LT(status.message().size(), 400u);
}

// Whatever the bytes: no crash, no sanitizer finding, and what is accepted survives a round trip.
TEST(UnitsTest, SurvivesRandomBytes) {
  static constexpr char kAlphabet[] = "0123456789.+-eEKMGTPikmnuhs/d% \xc2\xb5";
  std::mt19937 random(20261130);
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text) {
      c = round % 2 == 0 ? kAlphabet[random() % (sizeof(kAlphabet) - 1)]
                         : static_cast<char>(random() % 256);
    }
    if (const auto bytes = ParseQuantity(text); bytes.ok()) {
      ++accepted;
      const auto again = ParseQuantity(FormatQuantity(*bytes));
      ASSERT_TRUE(again.ok()) << text;
      ASSERT_EQ(*again, *bytes) << text;
    }
    if (const auto duration = ParseDuration(text); duration.ok()) {
      ++accepted;
      ASSERT_NE(*duration, absl::InfiniteDuration()) << text;
    }
    if (const auto ratio = ParsePercent(text); ratio.ok()) {
      ++accepted;
      ASSERT_GE(*ratio, 0) << text;
    }
    if (const auto rate = ParseRate(text); rate.ok()) {
      ++accepted;
      ASSERT_GE(rate->bytes, 0) << text;
    }
  }
  EXPECT_GT(accepted, 100);  // else the alphabet no longer reaches the code behind the grammar
}

TEST(UnitsTest, FormatsAnyQuantitySoThatItReadsBack) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10'000; ++round) {
    const int64_t bytes = static_cast<int64_t>(random()) >> (random() % 63) << (random() % 40);
    const auto read_back = ParseQuantity(FormatQuantity(bytes));
    ASSERT_TRUE(read_back.ok()) << bytes << ": " << read_back.status();
    ASSERT_EQ(*read_back, bytes);
  }
}

}  // namespace
}  // namespace reclaim
