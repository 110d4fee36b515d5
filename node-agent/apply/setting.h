// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_SETTING_H_
#define RECLAIM_NODE_AGENT_APPLY_SETTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kswapd/v1alpha1/policy.pb.h"
#include "node-agent/host/features.h"
#include "node-agent/host/kernel_file.h"
#include "node-agent/state/journal.h"

namespace reclaim::agent {

// A value of the host that the agent can write: one integer in one kernel file.
struct Setting {
  SettingKey key;
  KernelFile file;
  // What the API allows; the kernel may allow less and then says so.
  int64_t min = 0;
  int64_t max = 0;
};

// A setting and the value that the spec wants for it.
struct DesiredSetting {
  Setting setting;
  int64_t value = 0;
  // Set: this kernel cannot do it; names the missing files and the way out.
  std::string unsupported = {};
  // Set: the kernel would take it, and this machine would not, or might not, survive it; says why
  // and, where it is known, the most it can have.
  std::string harmful = {};
};

// All settings that `spec` wants, in the order of the API. Pure.
//
// watermarks.minFreeKbytes: at most a quarter of the machine's memory, which the API cannot know;
// harmful too when the agent could not read how much that is.
//
// kswapd workers: nodeN/kswapd_threads where the kernel has it; else vm.kswapd_threads, one value
// for all NUMA nodes, and the exceptions of spec.kswapd.numaNodes are unsupported; else
// unsupported.
std::vector<DesiredSetting> ResolveSettings(const kswapd::v1alpha1::ReclaimPolicySpec& spec,
                                            const HostFeatures& features, const HostFiles& files);

// The setting of a key; nullopt for a name that this version does not know (a journal of another
// version). Pure.
std::optional<Setting> FindSetting(const SettingKey& key, const HostFiles& files);

// "kswapd.workers of NUMA node 1", for messages. Pure.
std::string DescribeKey(const SettingKey& key);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_SETTING_H_
