// SPDX-License-Identifier: Apache-2.0
#include "node-agent/fuzz/parsers.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "node-agent/host/cgroup_glob.h"
#include "node-agent/host/counters.h"
#include "node-agent/host/id_list.h"
#include "node-agent/host/kswapd_worker.h"
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

constexpr char kStat[] = "58 (kswapd0) S 2 0 0 0 -1 2230336 0 0 0 0 0 7 0 0 20 0 1 0 155\n";
constexpr char kPolicy[] =
    "apiVersion: kswapd.dev/v1alpha1\nkind: ReclaimPolicy\nmetadata: {name: p}\n"
    "spec:\n  kswapd: {workers: 4}\n  proactiveReclaim:\n  - name: a\n"
    "    scope: {numaNodes: [0]}\n    goal: {rate: 64Mi/m}\n    swappiness: max\n";
constexpr char kJournal[] =
    "{\"format\":1,\"bootId\":\"b\",\"settings\":[{\"name\":\"vm.swappiness\",\"original\":60,"
    "\"numaNode\":1,\"effective\":4,\"restore\":true}]}";

constexpr FuzzedParser kParsers[] = {
    {"counters", [](absl::string_view text) { ParseCounters(text).status().IgnoreError(); },
     "testdata/linux-7.3.4/proc/vmstat", ""},
    {"zoneinfo", FuzzZoneinfo, "testdata/linux-7.3.4/proc/zoneinfo", ""},
    {"pressure", FuzzPressure, "testdata/linux-6.18/proc/pressure/memory", ""},
    {"id_list", FuzzIdList, "", "0-1,4,7-9\n"},
    {"process_stat", FuzzProcessStat, "", kStat},
    {"schedstat", FuzzSchedstat, "", "4639213 5292709 5\n"},
    {"journal", FuzzJournal, "", kJournal},
    {"policy", FuzzPolicy, "", kPolicy},
    {"node_spec",
     [](absl::string_view bytes) { DecodeSpec("v", std::string(bytes)).status().IgnoreError(); },
     "", "\x0a\x03\x0a\x01p\x12\x04\x3a\x02\x08\x2d"},
    {"cgroup_pattern",
     [](absl::string_view text) {
       const size_t half = text.size() / 2;
       MatchesComponent(text.substr(0, half), text.substr(half));
     },
     "", "x-*-y*zx-1-y2z"},
};

}  // namespace

absl::Span<const FuzzedParser> FuzzedParsers() { return kParsers; }

std::string SeedOf(const FuzzedParser& parser) {
  if (parser.seed_file.empty()) return std::string(parser.seed_text);
  std::ostringstream text;
  text << std::ifstream(absl::StrCat(RECLAIM_SOURCE_DIR, "/node-agent/", parser.seed_file)).rdbuf();
  return text.str();
}

}  // namespace reclaim::agent
