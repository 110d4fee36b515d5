// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/zoneinfo.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace reclaim::agent {
namespace {

absl::Status NotUnderstood(absl::string_view line) {
  return absl::InvalidArgumentError(
      absl::StrCat("line not understood: \"", absl::CHexEscape(line.substr(0, 80)), "\""));
}

// "Node 0, zone   Normal".
absl::StatusOr<Zone> ParseHead(absl::string_view line) {
  absl::string_view rest = line;
  Zone zone;
  if (!absl::ConsumePrefix(&rest, "Node ")) return NotUnderstood(line);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(rest, absl::MaxSplits(", zone", 1));
  zone.name = std::string(absl::StripAsciiWhitespace(parts.second));
  if (!absl::SimpleAtoi(parts.first, &zone.numa_node) || zone.numa_node < 0 || zone.name.empty()) {
    return NotUnderstood(line);
  }
  return zone;
}

std::optional<uint64_t>* FieldOf(Zone& zone, absl::string_view name) {
  if (name == "boost") return &zone.boost_pages;
  if (name == "min") return &zone.min_pages;
  if (name == "low") return &zone.low_pages;
  if (name == "high") return &zone.high_pages;
  if (name == "managed") return &zone.managed_pages;
  return nullptr;
}

// The amounts stand between "pages free" and "protection:"; the same words appear again, with a
// colon, for each CPU's page set.
absl::Status ParseLine(absl::string_view line, Zone& zone) {
  std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() == 3 && words[0] == "pages" && words[1] == "free") {
    uint64_t pages;
    if (!absl::SimpleAtoi(words[2], &pages)) return NotUnderstood(line);
    zone.free_pages = pages;
    return absl::OkStatus();
  }
  if (words.size() != 2) return absl::OkStatus();
  if (words[0] == "node_unreclaimable:") {
    uint64_t flag;
    if (!absl::SimpleAtoi(words[1], &flag)) return NotUnderstood(line);
    zone.node_unreclaimable = flag != 0;
    return absl::OkStatus();
  }
  if (std::optional<uint64_t>* field = FieldOf(zone, words[0]); field != nullptr) {
    uint64_t pages;
    if (!absl::SimpleAtoi(words[1], &pages)) return NotUnderstood(line);
    *field = pages;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Zone>> ParseZoneinfo(absl::string_view text) {
  std::vector<Zone> zones;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "Node ")) {
      absl::StatusOr<Zone> head = ParseHead(line);
      if (!head.ok()) return head.status();
      zones.push_back(*std::move(head));
      continue;
    }
    if (zones.empty()) return NotUnderstood(line);
    if (absl::Status status = ParseLine(line, zones.back()); !status.ok()) return status;
  }
  zones.erase(std::remove_if(zones.begin(), zones.end(),
                             [](const Zone& zone) { return zone.managed_pages.value_or(0) == 0; }),
              zones.end());
  return zones;
}

Maybe<std::vector<Zone>> ReadZoneinfo(const KernelFile& file) {
  return ReadParsed(file, ParseZoneinfo, kMaxZoneinfo);
}

}  // namespace reclaim::agent
