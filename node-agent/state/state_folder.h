// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_STATE_STATE_FOLDER_H_
#define RECLAIM_NODE_AGENT_STATE_STATE_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace reclaim::agent {

// The folder with what outlives a restart, held by one agent at a time: two of them would take each
// other's values for originals, and the true ones would be lost. The kernel lets go of it when the
// process ends, however it ends.
class StateFolder {
 public:
  // Makes `path` (mode 0700) if only it is missing. Errors: FailedPrecondition when another agent
  // holds it; else what the system said, with the path.
  static absl::StatusOr<StateFolder> Hold(const std::string& path);

  StateFolder(StateFolder&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  StateFolder& operator=(StateFolder&&) = delete;
  ~StateFolder();

 private:
  explicit StateFolder(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_STATE_STATE_FOLDER_H_
