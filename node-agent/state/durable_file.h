// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_STATE_DURABLE_FILE_H_
#define RECLAIM_NODE_AGENT_STATE_DURABLE_FILE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reclaim::agent {

// Replaces `path` by `content` so that after a crash or power loss it is the old file or the new
// one, whole: written to a neighbour, fsync, rename, fsync of the directory. Mode 0600. Error: what
// the system said, with the path; the old file is then untouched.
absl::Status WriteDurably(const std::string& path, absl::string_view content);

// nullopt: there is no such file. More than `max_bytes`: OutOfRange.
absl::StatusOr<std::optional<std::string>> ReadWhole(const std::string& path, size_t max_bytes);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_STATE_DURABLE_FILE_H_
