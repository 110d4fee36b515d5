// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/counters.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reclaim::agent {

Counters::Counters(std::vector<std::pair<std::string, uint64_t>> values)
    : values_(std::move(values)) {
  std::sort(values_.begin(), values_.end());
}

std::optional<uint64_t> Counters::Find(absl::string_view name) const {
  const auto found =
      std::lower_bound(values_.begin(), values_.end(), name,
                       [](const auto& pair, absl::string_view key) { return pair.first < key; });
  if (found == values_.end() || found->first != name) return std::nullopt;
  return found->second;
}

absl::StatusOr<Counters> ParseCounters(absl::string_view text) {
  std::vector<std::pair<std::string, uint64_t>> values;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    uint64_t value = 0;
    if (int64_t negative; absl::SimpleAtoi(parts.second, &negative) && negative < 0) {
      value = 0;
    } else if (parts.first.empty() || !absl::SimpleAtoi(parts.second, &value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("not \"name number\": \"", absl::CHexEscape(line.substr(0, 80)), "\""));
    }
    values.emplace_back(std::string(parts.first), value);
  }
  Counters counters(std::move(values));
  const auto& sorted = counters.values();
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != sorted.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(twice->first), "\" comes twice"));
  }
  return counters;
}

Maybe<Counters> ReadCounters(const KernelFile& file) { return ReadParsed(file, ParseCounters); }

}  // namespace reclaim::agent
