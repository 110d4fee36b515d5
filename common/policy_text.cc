// SPDX-License-Identifier: Apache-2.0
#include "common/policy_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/units.h"

namespace reclaim {
namespace {

constexpr int64_t kPebibyte = int64_t{1} << 50;
constexpr size_t kMaxTextSize = 20;

// Takes the digits at the front of `text`.
absl::string_view ConsumeDigits(absl::string_view& text) {
  const size_t count = static_cast<size_t>(
      std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit) - text.begin());
  const absl::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// Takes "12" or "12.345" from the front: up to `max_digits` digits, and up to three decimals.
bool ConsumeNumber(absl::string_view& text, size_t max_digits) {
  const absl::string_view digits = ConsumeDigits(text);
  if (digits.empty() || digits.size() > max_digits) return false;
  if (!absl::ConsumePrefix(&text, ".")) return true;
  const size_t decimals = ConsumeDigits(text).size();
  return decimals >= 1 && decimals <= 3;
}

bool IsNamePart(absl::string_view text, bool upper_case, absl::string_view inside) {
  const auto alphanumeric = [upper_case](char c) {
    return absl::ascii_isdigit(c) || absl::ascii_islower(c) ||
           (upper_case && absl::ascii_isupper(c));
  };
  return !text.empty() && alphanumeric(text.front()) && alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return alphanumeric(c) || inside.find(c) != absl::string_view::npos;
         });
}

// In characters, as the CRD counts: every byte but those that continue one.
size_t Utf8Length(absl::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

std::optional<int64_t> PolicyQuantity(absl::string_view text) {
  absl::string_view suffix = text;
  const absl::string_view digits = ConsumeDigits(suffix);
  if (digits.empty() || digits.size() > 15 || digits.front() == '0') return std::nullopt;
  constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T"};
  if (std::find(std::begin(kSuffixes), std::end(kSuffixes), suffix) == std::end(kSuffixes)) {
    return std::nullopt;
  }
  const absl::StatusOr<int64_t> bytes = ParseQuantity(text);
  if (!bytes.ok() || *bytes > kPebibyte) return std::nullopt;
  return *bytes;
}

std::optional<double> PolicyPercent(absl::string_view text) {
  if (!absl::ConsumeSuffix(&text, "%")) return std::nullopt;
  absl::string_view rest = text;
  double percent = 0;
  if (!ConsumeNumber(rest, 4) || !rest.empty() || !absl::SimpleAtod(text, &percent)) {
    return std::nullopt;
  }
  const bool leading_zero = text.front() == '0' && text.size() > 1 && text[1] != '.';
  if (leading_zero) return std::nullopt;
  return percent;
}

std::optional<absl::Duration> PolicyDuration(absl::string_view text) {
  if (text.empty() || text.size() > kMaxTextSize) return std::nullopt;
  absl::string_view rest = text;
  while (!rest.empty()) {
    if (!ConsumeNumber(rest, 6)) return std::nullopt;
    if (!absl::ConsumePrefix(&rest, "ms") && !absl::ConsumePrefix(&rest, "s") &&
        !absl::ConsumePrefix(&rest, "m") && !absl::ConsumePrefix(&rest, "h")) {
      return std::nullopt;
    }
  }
  const absl::StatusOr<absl::Duration> duration = ParseDuration(text);
  if (!duration.ok()) return std::nullopt;
  return *duration;
}

bool IsPolicyRate(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  return text.size() <= kMaxTextSize && PolicyQuantity(parts.first).has_value() &&
         (parts.second == "s" || parts.second == "m" || parts.second == "h" || parts.second == "d");
}

bool IsDnsLabel(absl::string_view text) {
  return text.size() <= 63 && IsNamePart(text, /*upper_case=*/false, "-");
}

bool IsLabelKey(absl::string_view text) {
  if (text.size() > 317) return false;
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) return IsNamePart(text, /*upper_case=*/true, "-_.");
  return IsNamePart(text.substr(0, slash), /*upper_case=*/false, "-.") &&
         IsNamePart(text.substr(slash + 1), /*upper_case=*/true, "-_.");
}

bool IsLabelValue(absl::string_view text) {
  return text.empty() || (text.size() <= 63 && IsNamePart(text, /*upper_case=*/true, "-_."));
}

bool IsCgroupPattern(absl::string_view text) {
  if (Utf8Length(text) > 256 || !absl::ConsumePrefix(&text, "/")) return false;
  for (const absl::string_view component : absl::StrSplit(text, '/')) {
    if (component.empty() || component.front() == '.' ||
        std::any_of(component.begin(), component.end(),
                    [](char c) { return absl::ascii_isspace(c) || absl::ascii_iscntrl(c); })) {
      return false;
    }
  }
  return true;
}

}  // namespace reclaim
