// SPDX-License-Identifier: Apache-2.0
#include "node-agent/fuzz/parsers.h"

#include <cstdlib>

#include "node-agent/host/cgroup_glob.h"
#include "node-agent/host/counters.h"
#include "node-agent/host/id_list.h"
#include "node-agent/host/kswapd_worker.h"
#include "node-agent/host/meminfo.h"
#include "node-agent/host/pressure.h"
#include "node-agent/host/zoneinfo.h"
#include "node-agent/policy_file/policy_file.h"
#include "node-agent/state/checkpoint.h"
#include "node-agent/state/journal.h"

namespace reclaim::agent {
namespace {

// Beyond not crashing: what a good result must be.
void Require(bool holds) {
  if (!holds) std::abort();
}

void FuzzZoneinfo(absl::string_view text) {
  const auto zones = ParseZoneinfo(text);
  if (!zones.ok()) return;
  for (const Zone& zone : *zones) Require(zone.numa_node >= 0 && zone.managed_pages.value() > 0);
}

void FuzzIdList(absl::string_view text) {
  const auto ids = ParseIdList(text);
  if (!ids.ok()) return;
  for (size_t i = 1; i < ids->size(); ++i) Require((*ids)[i - 1] < (*ids)[i]);
  Require(ids->empty() || (ids->front() >= 0 && ids->back() <= kMaxNumaNode));
}

void FuzzMeminfo(absl::string_view text) {
  const auto kbytes = ParseMemTotalKbytes(text);
  if (kbytes.ok()) Require(*kbytes > 0);
}

void FuzzPressure(absl::string_view text) {
  const auto pressure = ParsePressure(text);
  if (pressure.ok()) Require(pressure->some >= absl::ZeroDuration());
}

void FuzzProcessStat(absl::string_view text) {
  const auto stat = ParseProcessStat(text);
  if (stat.ok()) ParseKswapdName(stat->comm);
}

void FuzzSchedstat(absl::string_view text) {
  const auto time = ParseSchedstat(text);
  if (time.ok()) Require(*time >= absl::ZeroDuration());
}

// What can be read can be written, and reads back the same.
void FuzzJournal(absl::string_view text) {
  const auto content = ParseJournal(text);
  if (!content.ok()) return;
  const auto again = ParseJournal(FormatJournal(*content));
  Require(again.ok() && again->entries.size() == content->entries.size());
}

void FuzzPolicy(absl::string_view text) {
  const auto policy = ParsePolicy(text, "p.yaml");
  if (policy.ok()) Require(policy->spec.has_policy());
}

constexpr FuzzedParser kParsers[] = {
    {"counters", [](absl::string_view text) { ParseCounters(text).status().IgnoreError(); }},
    {"zoneinfo", FuzzZoneinfo},
    {"meminfo", FuzzMeminfo},
    {"pressure", FuzzPressure},
    {"id_list", FuzzIdList},
    {"process_stat", FuzzProcessStat},
    {"schedstat", FuzzSchedstat},
    {"journal", FuzzJournal},
    {"policy", FuzzPolicy},
    {"node_spec",
     [](absl::string_view bytes) { DecodeSpec("v", std::string(bytes)).status().IgnoreError(); }},
    {"cgroup_pattern",
     [](absl::string_view text) {
       const size_t half = text.size() / 2;
       MatchesComponent(text.substr(0, half), text.substr(half));
     }},
};

}  // namespace

absl::Span<const FuzzedParser> FuzzedParsers() { return kParsers; }

}  // namespace reclaim::agent
