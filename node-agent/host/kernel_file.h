// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_KERNEL_FILE_H_
#define RECLAIM_NODE_AGENT_HOST_KERNEL_FILE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace reclaim::agent {

// Where the host's kernel interfaces are mounted. In a container each is its own narrow bind mount.
struct HostPaths {
  std::string proc = "/proc";                     // read only
  std::string proc_sys_vm = "/proc/sys/vm";       // written
  std::string node = "/sys/devices/system/node";  // written
  std::string sys = "/sys";                       // read only
  std::string cgroup = "/sys/fs/cgroup";          // written
};

// One file of the kernel: where this process finds it, and the name an admin knows it by. Messages
// use the name, I/O uses the path.
struct KernelFile {
  std::string path;
  std::string name;
};

// Every kernel file that the agent touches. The kernel's file names stand in host/ and nowhere
// else.
//
// Pure: it only builds names.
class HostFiles {
 public:
  explicit HostFiles(HostPaths paths) : paths_(std::move(paths)) {}

  KernelFile Vmstat() const;
  KernelFile Zoneinfo() const;
  KernelFile MemoryPressure() const;
  KernelFile BootId() const;
  KernelFile KernelRelease() const;
  KernelFile Meminfo() const;
  KernelFile ProcessDirectory() const;
  KernelFile ProcessStat(int pid) const;
  KernelFile ProcessSchedstat(int pid) const;

  KernelFile MinFreeKbytes() const;
  KernelFile WatermarkScaleFactor() const;
  KernelFile WatermarkBoostFactor() const;
  KernelFile Swappiness() const;
  KernelFile VfsCachePressure() const;
  // vm.kswapd_threads, also of the 2018 and vendor kernels: one value for all NUMA nodes.
  KernelFile KswapdThreads() const;

  KernelFile OnlineNumaNodes() const;
  KernelFile NumaNodesWithMemory() const;
  KernelFile NumaNodeVmstat(int numa_node) const;
  KernelFile NumaNodeReclaim(int numa_node) const;
  KernelFile NumaNodeKswapdThreads(int numa_node) const;

  KernelFile LruGenEnabled() const;

  // A file of the cgroup `path` ("/" is the root): CgroupFile("/kubepods", "memory.stat").
  KernelFile CgroupRoot() const;
  KernelFile CgroupReclaim(absl::string_view cgroup) const;
  KernelFile CgroupMemoryStat(absl::string_view cgroup) const;
  KernelFile CgroupMemoryCurrent(absl::string_view cgroup) const;

 private:
  KernelFile Sysctl(absl::string_view file) const;
  KernelFile NumaNodeFile(int numa_node, absl::string_view file) const;
  KernelFile CgroupFile(absl::string_view cgroup, absl::string_view file) const;

  HostPaths paths_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_KERNEL_FILE_H_
