// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_STATE_CHECKPOINT_H_
#define RECLAIM_NODE_AGENT_STATE_CHECKPOINT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kswapd/v1alpha1/agent.pb.h"
#include "node-agent/spec_update.h"

namespace reclaim::agent {

// The NodeSpec in `bytes` if this agent can run it. Pure.
// Error: InvalidArgument, with every field that is wrong.
absl::StatusOr<SpecUpdate> DecodeSpec(const std::string& version, const std::string& bytes);

// The last good spec on disk, so that an agent that starts with no operator in reach goes on as
// before. Holds a serialized SpecPush. Not thread-safe.
class Checkpoint {
 public:
  explicit Checkpoint(std::string path) : path_(std::move(path)) {}

  // nullopt: there is none. Error: it cannot be read, or not be run by this version.
  absl::StatusOr<std::optional<SpecUpdate>> Load();

  // Error: see WriteDurably.
  absl::Status Store(const SpecUpdate& update);

  // When the file was last written; nullopt: never.
  std::optional<absl::Time> WrittenAt() const;

 private:
  std::string path_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_STATE_CHECKPOINT_H_
