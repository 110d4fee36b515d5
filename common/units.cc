// SPDX-License-Identifier: Apache-2.0
#include "common/units.h"

#include <cstddef>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reclaim {
namespace {

using uint128 = unsigned __int128;

constexpr char kWantQuantity[] =
    "want a whole number of bytes with an optional suffix, such as 512Mi or 8Gi";
constexpr char kWantDuration[] =
    "want numbers with the units h, m, s or ms, such as 30s, 10m or 1h30m";
constexpr char kWantPercent[] = "want a number and a percent sign, such as 0.1%";
constexpr char kWantRate[] =
    "want a quantity and a unit of time (s, m, h or d), such as 64Mi/m or 10Gi/d";

// Digits that a uint128 surely holds.
constexpr size_t kMaxDigits = 38;

// `text` for a message: escaped, and cut where it is longer than anything valid.
std::string Quoted(absl::string_view text) {
  constexpr size_t kShown = 48;
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "…" : "", "\"");
}

absl::Status NotA(absl::string_view what, absl::string_view text, absl::string_view why,
                  absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is not a ", what, " (", why, "): ", want));
}

bool ConsumeSign(absl::string_view& text) {
  if (absl::ConsumePrefix(&text, "-")) return true;
  absl::ConsumePrefix(&text, "+");
  return false;
}

// A decimal number without its sign: digits / 10^decimals.
struct Decimal {
  uint128 digits = 0;
  int decimals = 0;
};

// Takes "12", "12.5", "12." or ".5" from the front of `text`. nullopt: there is no number, or it
// has more digits than kMaxDigits.
std::optional<Decimal> ConsumeDecimal(absl::string_view& text) {
  Decimal number;
  size_t digits = 0;         // seen, to know that there is a number at all
  size_t significant = 0;    // taken into number.digits
  size_t pending_zeros = 0;  // of the fraction: trailing ones change nothing
  bool in_fraction = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && !in_fraction) {
      in_fraction = true;
      text.remove_prefix(1);
      continue;
    }
    if (!absl::ascii_isdigit(c)) break;
    text.remove_prefix(1);
    ++digits;
    if (in_fraction && c == '0') {
      ++pending_zeros;
      continue;
    }
    const size_t added = pending_zeros + 1;
    if (number.digits > 0 || c != '0') significant += added;
    if (significant > kMaxDigits || (in_fraction && number.decimals + added > kMaxDigits)) {
      return std::nullopt;
    }
    for (size_t i = 0; i < added; ++i) number.digits *= 10;
    number.digits += c - '0';
    if (in_fraction) number.decimals += static_cast<int>(added);
    pending_zeros = 0;
  }
  if (digits == 0) return std::nullopt;
  return number;
}

// A suffix as a factor: base^exponent.
struct Factor {
  int base = 10;
  int exponent = 0;
};

std::optional<Factor> ParseSuffix(absl::string_view suffix) {
  struct Row {
    absl::string_view suffix;
    Factor factor;
  };
  static constexpr Row kRows[] = {
      {"", {10, 0}},   {"n", {10, -9}}, {"u", {10, -6}}, {"m", {10, -3}},
      {"k", {10, 3}},  {"M", {10, 6}},  {"G", {10, 9}},  {"T", {10, 12}},
      {"P", {10, 15}}, {"E", {10, 18}}, {"Ki", {2, 10}}, {"Mi", {2, 20}},
      {"Gi", {2, 30}}, {"Ti", {2, 40}}, {"Pi", {2, 50}}, {"Ei", {2, 60}},
  };
  for (const Row& row : kRows) {
    if (row.suffix == suffix) return row.factor;
  }
  if (absl::ConsumePrefix(&suffix, "e") || absl::ConsumePrefix(&suffix, "E")) {
    const bool negative = ConsumeSign(suffix);
    int exponent = 0;
    // Four digits are beyond every int64 already, and not so long that the loops below notice.
    if (suffix.empty() || suffix.size() > 4) return std::nullopt;
    for (const char c : suffix) {
      if (!absl::ascii_isdigit(c)) return std::nullopt;
      exponent = exponent * 10 + (c - '0');
    }
    return Factor{10, negative ? -exponent : exponent};
  }
  return std::nullopt;
}

enum class Scaled { kExact, kInexact, kTooLarge };

constexpr uint128 kMaxMagnitude = uint128{1} << 63;  // of the smallest int64

// value *= base^exponent, when the result is whole and not above kMaxMagnitude.
Scaled Scale(int base, int exponent, uint128& value) {
  if (value == 0) return Scaled::kExact;
  for (; exponent < 0; ++exponent) {
    if (value % base != 0) return Scaled::kInexact;
    value /= base;
  }
  for (; exponent > 0; --exponent) {
    if (value > kMaxMagnitude) return Scaled::kTooLarge;
    value *= base;
  }
  return value > kMaxMagnitude ? Scaled::kTooLarge : Scaled::kExact;
}

// The number times the factor, exactly. For a binary suffix, 10^-decimals is taken apart into
// 5^-decimals and 2^-decimals, so that divisions come before multiplications.
Scaled Multiply(const Decimal& number, Factor factor, uint128& result) {
  result = number.digits;
  if (factor.base == 10) return Scale(10, factor.exponent - number.decimals, result);
  const Scaled fives = Scale(5, -number.decimals, result);
  if (fives != Scaled::kExact) return fives;
  return Scale(2, factor.exponent - number.decimals, result);
}

// Nanoseconds of one unit, taken from the front of `text`; the longer names come first.
std::optional<int64_t> ConsumeTimeUnit(absl::string_view& text) {
  struct Row {
    absl::string_view name;
    int64_t nanoseconds;
  };
  static constexpr Row kRows[] = {
      {"ns", 1},          {"us", 1'000},        {"\u00b5s", 1'000},  // micro sign
      {"\u03bcs", 1'000},                                            // Greek mu
      {"ms", 1'000'000},  {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
  };
  for (const Row& row : kRows) {
    if (absl::ConsumePrefix(&text, row.name)) return row.nanoseconds;
  }
  return std::nullopt;
}

// The number of `unit` nanoseconds, cut to whole ones; nullopt above kMaxMagnitude.
std::optional<uint128> Nanoseconds(const Decimal& number, int64_t unit) {
  uint128 whole = number.digits;
  uint128 divisor = 1;
  for (int i = 0; i < number.decimals; ++i) divisor *= 10;
  const uint128 fraction = whole % divisor;
  whole /= divisor;
  if (whole > kMaxMagnitude) return std::nullopt;
  // The fraction's digits beyond 10^-18 are below a nanosecond even for hours.
  uint128 fraction_divisor = divisor;
  uint128 fraction_digits = fraction;
  while (fraction_divisor > 1'000'000'000'000'000'000) {
    fraction_divisor /= 10;
    fraction_digits /= 10;
  }
  const uint128 total = whole * unit + fraction_digits * unit / fraction_divisor;
  if (total > kMaxMagnitude) return std::nullopt;
  return total;
}

}  // namespace

absl::StatusOr<int64_t> ParseQuantity(absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = ConsumeSign(rest);
  const std::optional<Decimal> number = ConsumeDecimal(rest);
  if (!number.has_value()) {
    return NotA("quantity", text, "no number in it, or too many digits", kWantQuantity);
  }
  const std::optional<Factor> factor = ParseSuffix(rest);
  if (!factor.has_value()) {
    return NotA("quantity", text, absl::StrCat("unknown suffix ", Quoted(rest)), kWantQuantity);
  }
  uint128 magnitude = 0;
  switch (Multiply(*number, *factor, magnitude)) {
    case Scaled::kExact:
      break;
    case Scaled::kInexact:
      return NotA("quantity of bytes", text,
                  rest == "m" ? "the suffix m is a thousandth; M and Mi are millions"
                              : "it is not a whole number of bytes",
                  kWantQuantity);
    case Scaled::kTooLarge:
      return NotA("quantity", text, "it does not fit in 64 bits", kWantQuantity);
  }
  if (magnitude == kMaxMagnitude) {
    if (negative) return std::numeric_limits<int64_t>::min();
    return NotA("quantity", text, "it does not fit in 64 bits", kWantQuantity);
  }
  const int64_t value = static_cast<int64_t>(magnitude);
  return negative ? -value : value;
}

std::string FormatQuantity(int64_t bytes) {
  static constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (bytes == 0) return "0";
  size_t suffix = 0;
  while (suffix + 1 < std::size(kSuffixes) && bytes % 1024 == 0) {
    bytes /= 1024;
    ++suffix;
  }
  return absl::StrCat(bytes, kSuffixes[suffix]);
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = ConsumeSign(rest);
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty()) return NotA("duration", text, "it is empty", kWantDuration);
  uint128 total = 0;
  while (!rest.empty()) {
    const std::optional<Decimal> number = ConsumeDecimal(rest);
    if (!number.has_value()) {
      return NotA("duration", text, absl::StrCat("no number at ", Quoted(rest)), kWantDuration);
    }
    const std::optional<int64_t> unit = ConsumeTimeUnit(rest);
    if (!unit.has_value()) {
      return NotA(
          "duration", text,
          rest.empty() ? "a number has no unit" : absl::StrCat("unknown unit at ", Quoted(rest)),
          kWantDuration);
    }
    const std::optional<uint128> part = Nanoseconds(*number, *unit);
    if (!part.has_value() || (total += *part) >= kMaxMagnitude) {
      return NotA("duration", text, "it is longer than 292 years", kWantDuration);
    }
  }
  const int64_t nanoseconds = static_cast<int64_t>(total);
  return absl::Nanoseconds(negative ? -nanoseconds : nanoseconds);
}

absl::StatusOr<double> ParsePercent(absl::string_view text) {
  absl::string_view rest = text;
  if (!absl::ConsumeSuffix(&rest, "%")) {
    return NotA("percentage", text, "no percent sign at its end", kWantPercent);
  }
  absl::string_view digits = rest;
  double percent = 0;
  // ConsumeDecimal has the grammar, SimpleAtod the rounding.
  if (!ConsumeDecimal(digits).has_value() || !digits.empty() || !absl::SimpleAtod(rest, &percent)) {
    return NotA("percentage", text, "no plain number in front of the sign", kWantPercent);
  }
  return percent / 100;
}

absl::StatusOr<Rate> ParseRate(absl::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == absl::string_view::npos) {
    return NotA("rate", text, "no unit of time in it", kWantRate);
  }
  const absl::string_view unit = text.substr(slash + 1);
  Rate rate;
  if (unit == "s") {
    rate.period = absl::Seconds(1);
  } else if (unit == "m") {
    rate.period = absl::Minutes(1);
  } else if (unit == "h") {
    rate.period = absl::Hours(1);
  } else if (unit == "d") {
    rate.period = absl::Hours(24);
  } else {
    return NotA("rate", text, absl::StrCat("unknown unit of time ", Quoted(unit)), kWantRate);
  }
  const absl::StatusOr<int64_t> bytes = ParseQuantity(text.substr(0, slash));
  if (!bytes.ok() || *bytes < 0) {
    return NotA("rate", text, "no quantity in front of the slash", kWantRate);
  }
  rate.bytes = *bytes;
  return rate;
}

}  // namespace reclaim
