// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/setting.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::ReclaimPolicySpec;

constexpr char kWorkers[] = "kswapd.workers";
constexpr absl::string_view kMinFree = "watermarks.minFreeKbytes";
constexpr int64_t kMaxWorkers = 16;

// A setting that is one sysctl: its API name, its file and where the spec has it.
struct SysctlSetting {
  absl::string_view name;
  KernelFile (*file)(const HostFiles&);
  int64_t min;
  int64_t max;
  std::optional<int32_t> (*wanted)(const ReclaimPolicySpec&);
};

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

const SysctlSetting kSysctls[] = {
    {kMinFree, [](const HostFiles& f) { return f.MinFreeKbytes(); }, 1, kMaxInt,
     [](const ReclaimPolicySpec& s) -> std::optional<int32_t> {
       if (!s.watermarks().has_min_free_kbytes()) return std::nullopt;
       return s.watermarks().min_free_kbytes();
     }},
    {"watermarks.scaleFactor", [](const HostFiles& f) { return f.WatermarkScaleFactor(); }, 1, 3000,
     [](const ReclaimPolicySpec& s) -> std::optional<int32_t> {
       if (!s.watermarks().has_scale_factor()) return std::nullopt;
       return s.watermarks().scale_factor();
     }},
    {"watermarks.boostFactor", [](const HostFiles& f) { return f.WatermarkBoostFactor(); }, 0,
     kMaxInt,
     [](const ReclaimPolicySpec& s) -> std::optional<int32_t> {
       if (!s.watermarks().has_boost_factor()) return std::nullopt;
       return s.watermarks().boost_factor();
     }},
    {"vm.swappiness", [](const HostFiles& f) { return f.Swappiness(); }, 0, 200,
     [](const ReclaimPolicySpec& s) -> std::optional<int32_t> {
       if (!s.vm().has_swappiness()) return std::nullopt;
       return s.vm().swappiness();
     }},
    {"vm.vfsCachePressure", [](const HostFiles& f) { return f.VfsCachePressure(); }, 0, kMaxInt,
     [](const ReclaimPolicySpec& s) -> std::optional<int32_t> {
       if (!s.vm().has_vfs_cache_pressure()) return std::nullopt;
       return s.vm().vfs_cache_pressure();
     }},
};

Setting WorkersOf(int numa_node, const HostFiles& files) {
  return {{kWorkers, numa_node}, files.NumaNodeKswapdThreads(numa_node), 1, kMaxWorkers};
}

Setting WorkersOfAll(const HostFiles& files) {
  return {{kWorkers, std::nullopt}, files.KswapdThreads(), 1, kMaxWorkers};
}

void ResolvePerNumaNode(const kswapd::v1alpha1::Kswapd& kswapd, const HostFeatures& features,
                        const HostFiles& files, std::vector<DesiredSetting>& desired) {
  std::map<int, int64_t> wanted;
  if (kswapd.has_workers()) {
    for (int id : features.memory_nodes) wanted[id] = kswapd.workers();
  }
  for (const auto& exception : kswapd.numa_nodes()) wanted[exception.node()] = exception.workers();
  for (const auto& [id, workers] : wanted) {
    DesiredSetting setting{WorkersOf(id, files), workers, ""};
    if (!std::binary_search(features.memory_nodes.begin(), features.memory_nodes.end(), id)) {
      setting.unsupported = absl::StrCat("this machine has no NUMA node ", id, " with memory (",
                                         files.NumaNodesWithMemory().name, ")");
    }
    desired.push_back(std::move(setting));
  }
}

void ResolveWorkers(const kswapd::v1alpha1::Kswapd& kswapd, const HostFeatures& features,
                    const HostFiles& files, std::vector<DesiredSetting>& desired) {
  if (!kswapd.has_workers() && kswapd.numa_nodes().empty()) return;
  if (features.Has(kKswapdThreadsPerNumaNode)) {
    ResolvePerNumaNode(kswapd, features, files, desired);
    return;
  }
  const int first = features.memory_nodes.empty() ? 0 : features.memory_nodes.front();
  if (!features.Has(kKswapdThreads)) {
    const int64_t wanted = kswapd.has_workers() ? kswapd.workers() : kswapd.numa_nodes(0).workers();
    desired.push_back(
        {WorkersOfAll(files), wanted,
         absl::StrCat("this kernel has neither ", files.NumaNodeKswapdThreads(first).name, " nor ",
                      files.KswapdThreads().name,
                      "; it runs one kswapd per NUMA node. Boot a kernel with the "
                      "series in kernel/ to have more.")});
    return;
  }
  if (kswapd.has_workers()) desired.push_back({WorkersOfAll(files), kswapd.workers(), ""});
  for (const auto& exception : kswapd.numa_nodes()) {
    desired.push_back(
        {WorkersOf(exception.node(), files), exception.workers(),
         absl::StrCat("this kernel has no ", files.NumaNodeKswapdThreads(exception.node()).name,
                      ", only ", files.KswapdThreads().name,
                      ", which is one value for all NUMA nodes")});
  }
}

// Memory below the watermark is the kernel's alone. A value near all of it ends in a panic at once
// ("deadlocked on memory"), and after each reboot again; 94 % of it left a node of 1.5 GB without
// ssh and kubelet.
std::string HarmOfMinFree(int64_t kbytes, const HostFeatures& features, const HostFiles& files) {
  if (!features.memory_kbytes.has_value()) {
    return absl::StrCat("not written, because ", files.Meminfo().name,
                        " does not tell how much memory this machine has (MemTotal), and ", kbytes,
                        " KiB may be more than it can spare");
  }
  if (kbytes <= *features.memory_kbytes / 4) return "";
  return absl::StrCat("not written, because processes would get no memory: ", kbytes,
                      " KiB is more than a quarter of this machine's ", *features.memory_kbytes,
                      " KiB; at most ", *features.memory_kbytes / 4);
}

}  // namespace

std::vector<DesiredSetting> ResolveSettings(const ReclaimPolicySpec& spec,
                                            const HostFeatures& features, const HostFiles& files) {
  std::vector<DesiredSetting> desired;
  ResolveWorkers(spec.kswapd(), features, files, desired);
  for (const SysctlSetting& sysctl : kSysctls) {
    const std::optional<int32_t> value = sysctl.wanted(spec);
    if (!value.has_value()) continue;
    desired.push_back(
        {{{std::string(sysctl.name), std::nullopt}, sysctl.file(files), sysctl.min, sysctl.max},
         *value});
    if (sysctl.name == kMinFree) desired.back().harmful = HarmOfMinFree(*value, features, files);
  }
  return desired;
}

std::optional<Setting> FindSetting(const SettingKey& key, const HostFiles& files) {
  if (key.name == kWorkers) {
    return key.numa_node.has_value() ? WorkersOf(*key.numa_node, files) : WorkersOfAll(files);
  }
  const auto* found = std::find_if(std::begin(kSysctls), std::end(kSysctls),
                                   [&](const SysctlSetting& s) { return key.name == s.name; });
  if (found == std::end(kSysctls) || key.numa_node.has_value()) return std::nullopt;
  return Setting{key, found->file(files), found->min, found->max};
}

std::string DescribeKey(const SettingKey& key) {
  if (!key.numa_node.has_value()) return key.name;
  return absl::StrCat(key.name, " of NUMA node ", *key.numa_node);
}

}  // namespace reclaim::agent
