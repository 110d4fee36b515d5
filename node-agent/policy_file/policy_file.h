// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_POLICY_FILE_POLICY_FILE_H_
#define RECLAIM_NODE_AGENT_POLICY_FILE_POLICY_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "node-agent/spec_update.h"

namespace reclaim::agent {

// The one ReclaimPolicy manifest in `text`, as `kubectl apply` would take it, with the same checks
// as the API server's. Pure. Error: InvalidArgument, one sentence: "FILE:LINE: PATH: what is
// wrong"; the first of several, and how many more.
absl::StatusOr<SpecUpdate> ParsePolicy(absl::string_view text, const std::string& file_name);

// The --policy file of a stand-alone agent, read again when it has changed.
//
// Not thread-safe: polled by the tick.
class PolicyFile {
 public:
  explicit PolicyFile(std::string path) : path_(std::move(path)) {}

  // nullopt: as it was at the last call. Else the new policy, or why it is none: whoever asks keeps
  // the last good one. A missing file is an error, not "no policy".
  std::optional<absl::StatusOr<SpecUpdate>> Poll();

 private:
  // What tells one version of the file from the next.
  struct Identity {
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0;
    int error = 0;
    bool regular = false;  // a FIFO would be waited for without end
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  Identity Identify() const;

  std::string path_;
  std::optional<Identity> last_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_POLICY_FILE_POLICY_FILE_H_
