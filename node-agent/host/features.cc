// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/features.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "node-agent/host/file_io.h"
#include "node-agent/host/id_list.h"
#include "node-agent/host/meminfo.h"

namespace reclaim::agent {
namespace {

// has_memory is as old as NUMA in sysfs; a kernel without NUMA has the one node 0.
std::vector<int> ReadMemoryNodes(const HostFiles& files) {
  const Maybe<std::vector<int>> nodes = ReadIdList(files.NumaNodesWithMemory());
  if (!nodes.ok() || !nodes->has_value()) return {0};
  return **nodes;
}

std::string ReadKernelRelease(const HostFiles& files) {
  const Maybe<std::string> release = ReadFile(files.KernelRelease());
  if (!release.ok() || !release->has_value()) return "";
  return std::string(absl::StripAsciiWhitespace(**release));
}

}  // namespace

bool HostFeatures::Has(absl::string_view name) const {
  return std::any_of(features.begin(), features.end(), [name](const Feature& feature) {
    return feature.supported && feature.name == name;
  });
}

HostFeatures ReadHostFeatures(const HostFiles& files) {
  HostFeatures host;
  host.kernel_release = ReadKernelRelease(files);
  host.memory_nodes = ReadMemoryNodes(files);
  const Maybe<int64_t> memory = ReadMemTotalKbytes(files.Meminfo());
  if (memory.ok()) host.memory_kbytes = *memory;
  const int first = host.memory_nodes.empty() ? 0 : host.memory_nodes.front();
  const auto add = [&host](const char* name, const KernelFile& file) {
    host.features.push_back({name, Exists(file), file.name});
  };
  add(kKswapdThreadsPerNumaNode, files.NumaNodeKswapdThreads(first));
  add(kKswapdThreads, files.KswapdThreads());
  add(kNodeReclaim, files.NumaNodeReclaim(first));
  add(kMemoryReclaim, files.CgroupReclaim("/"));
  add(kLruGen, files.LruGenEnabled());
  add(kPressure, files.MemoryPressure());
  return host;
}

}  // namespace reclaim::agent
