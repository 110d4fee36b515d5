// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/reclaim.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "node-agent/host/counters.h"

namespace reclaim::agent {
namespace {

constexpr char kProactive[] = "pgsteal_proactive";

std::optional<int64_t> ReadStealPages(const KernelFile& file) {
  const Maybe<Counters> counters = ReadCounters(file);
  if (!counters.ok() || !counters->has_value()) return std::nullopt;
  const std::optional<uint64_t> value = (*counters)->Find(kProactive);
  if (!value.has_value()) return std::nullopt;
  return static_cast<int64_t>(*value);
}

// A number that grows by what is reclaimed; memory.stat counts pages here, as vmstat does.
std::optional<int64_t> ReadMeter(const HostFiles& files, const ReclaimPlace& place) {
  const int64_t page = PageBytes();
  std::optional<int64_t> pages;
  if (place.numa_node.has_value()) {
    pages = ReadStealPages(files.NumaNodeVmstat(*place.numa_node));
    if (!pages.has_value()) pages = ReadStealPages(files.Vmstat());
  } else {
    pages = ReadStealPages(files.CgroupMemoryStat(place.cgroup));
  }
  if (pages.has_value()) return *pages * page;
  if (place.numa_node.has_value()) return std::nullopt;
  const Maybe<int64_t> current = ReadInteger(files.CgroupMemoryCurrent(place.cgroup));
  if (!current.ok() || !current->has_value()) return std::nullopt;
  return -**current;
}

}  // namespace

KernelFile ReclaimFile(const HostFiles& files, const ReclaimPlace& place) {
  return place.numa_node.has_value() ? files.NumaNodeReclaim(*place.numa_node)
                                     : files.CgroupReclaim(place.cgroup);
}

ReclaimOutcome ReclaimFrom(const HostFiles& files, KernelWriter& writer, const ReclaimPlace& place,
                           int64_t bytes, const std::string& swappiness) {
  const std::optional<int64_t> before = ReadMeter(files, place);
  ReclaimOutcome outcome;
  outcome.error = writer.Write(
      ReclaimFile(files, place),
      swappiness.empty() ? absl::StrCat(bytes) : absl::StrCat(bytes, " swappiness=", swappiness));
  const std::optional<int64_t> after = ReadMeter(files, place);
  if (before.has_value() && after.has_value()) {
    outcome.reclaimed_bytes = std::max(*after - *before, int64_t{0});
  }
  return outcome;
}

}  // namespace reclaim::agent
