// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_CGROUP_GLOB_H_
#define RECLAIM_NODE_AGENT_HOST_CGROUP_GLOB_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

// Whether `name` matches `pattern`, in which `*` stands for any run of characters. Both are one
// path component. Pure.
bool MatchesComponent(absl::string_view pattern, absl::string_view name);

// Cgroups below the root that match `pattern` ("/kubepods.slice/x-*"), sorted, as paths that begin
// with "/". A `*` never matches across "/". Symbolic links are not followed.
//
// At most `limit` are returned; more is ResourceExhausted, because a target that covers only some
// of what it names would look as if it worked. Others: InvalidArgument for a pattern with "." or
// ".."; what the kernel says when the root cannot be listed. A cgroup that vanishes meanwhile is
// left out.
absl::StatusOr<std::vector<std::string>> ExpandCgroups(const HostFiles& files,
                                                       absl::string_view pattern, size_t limit);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_CGROUP_GLOB_H_
