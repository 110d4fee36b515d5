// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/kernel_file.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reclaim::agent {
namespace {

KernelFile Under(const std::string& root, absl::string_view known_root, absl::string_view file) {
  return {absl::StrCat(root, "/", file), absl::StrCat(known_root, "/", file)};
}

}  // namespace

KernelFile HostFiles::Vmstat() const { return Under(paths_.proc, "/proc", "vmstat"); }
KernelFile HostFiles::Zoneinfo() const { return Under(paths_.proc, "/proc", "zoneinfo"); }
KernelFile HostFiles::MemoryPressure() const {
  return Under(paths_.proc, "/proc", "pressure/memory");
}
KernelFile HostFiles::BootId() const {
  return Under(paths_.proc, "/proc", "sys/kernel/random/boot_id");
}
KernelFile HostFiles::KernelRelease() const {
  return Under(paths_.proc, "/proc", "sys/kernel/osrelease");
}
KernelFile HostFiles::Meminfo() const { return Under(paths_.proc, "/proc", "meminfo"); }
KernelFile HostFiles::ProcessDirectory() const { return {paths_.proc, "/proc"}; }
KernelFile HostFiles::ProcessStat(int pid) const {
  return Under(paths_.proc, "/proc", absl::StrCat(pid, "/stat"));
}
KernelFile HostFiles::ProcessSchedstat(int pid) const {
  return Under(paths_.proc, "/proc", absl::StrCat(pid, "/schedstat"));
}

KernelFile HostFiles::Sysctl(absl::string_view file) const {
  return Under(paths_.proc_sys_vm, "/proc/sys/vm", file);
}
KernelFile HostFiles::MinFreeKbytes() const { return Sysctl("min_free_kbytes"); }
KernelFile HostFiles::WatermarkScaleFactor() const { return Sysctl("watermark_scale_factor"); }
KernelFile HostFiles::WatermarkBoostFactor() const { return Sysctl("watermark_boost_factor"); }
KernelFile HostFiles::Swappiness() const { return Sysctl("swappiness"); }
KernelFile HostFiles::VfsCachePressure() const { return Sysctl("vfs_cache_pressure"); }
KernelFile HostFiles::KswapdThreads() const { return Sysctl("kswapd_threads"); }

KernelFile HostFiles::OnlineNumaNodes() const {
  return Under(paths_.node, "/sys/devices/system/node", "online");
}
KernelFile HostFiles::NumaNodesWithMemory() const {
  return Under(paths_.node, "/sys/devices/system/node", "has_memory");
}
KernelFile HostFiles::NumaNodeFile(int numa_node, absl::string_view file) const {
  return Under(paths_.node, "/sys/devices/system/node", absl::StrCat("node", numa_node, "/", file));
}
KernelFile HostFiles::NumaNodeVmstat(int numa_node) const {
  return NumaNodeFile(numa_node, "vmstat");
}
KernelFile HostFiles::NumaNodeReclaim(int numa_node) const {
  return NumaNodeFile(numa_node, "reclaim");
}
KernelFile HostFiles::NumaNodeKswapdThreads(int numa_node) const {
  return NumaNodeFile(numa_node, "kswapd_threads");
}

KernelFile HostFiles::LruGenEnabled() const {
  return Under(paths_.sys, "/sys", "kernel/mm/lru_gen/enabled");
}

KernelFile HostFiles::CgroupRoot() const { return {paths_.cgroup, "/sys/fs/cgroup"}; }
KernelFile HostFiles::CgroupFile(absl::string_view cgroup, absl::string_view file) const {
  const absl::string_view inner = absl::StripSuffix(absl::StripPrefix(cgroup, "/"), "/");
  if (inner.empty()) return Under(paths_.cgroup, "/sys/fs/cgroup", file);
  return Under(paths_.cgroup, "/sys/fs/cgroup", absl::StrCat(inner, "/", file));
}
KernelFile HostFiles::CgroupReclaim(absl::string_view cgroup) const {
  return CgroupFile(cgroup, "memory.reclaim");
}
KernelFile HostFiles::CgroupMemoryStat(absl::string_view cgroup) const {
  return CgroupFile(cgroup, "memory.stat");
}
KernelFile HostFiles::CgroupMemoryCurrent(absl::string_view cgroup) const {
  return CgroupFile(cgroup, "memory.current");
}

}  // namespace reclaim::agent
