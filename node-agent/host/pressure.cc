// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/pressure.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace reclaim::agent {
namespace {

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123": microseconds.
absl::StatusOr<absl::Duration> ParseTotal(absl::string_view line) {
  for (absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    if (!absl::ConsumePrefix(&word, "total=")) continue;
    int64_t microseconds;
    if (absl::SimpleAtoi(word, &microseconds) && microseconds >= 0) {
      return absl::Microseconds(microseconds);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no total in \"", absl::CHexEscape(line.substr(0, 80)), "\""));
}

}  // namespace

absl::StatusOr<Pressure> ParsePressure(absl::string_view text) {
  std::optional<absl::Duration> some;
  std::optional<absl::Duration> full;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const bool is_some = absl::StartsWith(line, "some ");
    if (!is_some && !absl::StartsWith(line, "full ")) continue;
    absl::StatusOr<absl::Duration> total = ParseTotal(line);
    if (!total.ok()) return total.status();
    (is_some ? some : full) = *total;
  }
  if (!some.has_value()) return absl::InvalidArgumentError("no line starts with \"some\"");
  return Pressure{*some, full};
}

Maybe<Pressure> ReadPressure(const KernelFile& file) {
  Maybe<Pressure> pressure = ReadParsed(file, ParsePressure);
  // EOPNOTSUPP, which absl maps to this code: PSI is built in and switched off.
  if (absl::IsUnimplemented(pressure.status())) return std::nullopt;
  return pressure;
}

}  // namespace reclaim::agent
