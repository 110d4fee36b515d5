// SPDX-License-Identifier: Apache-2.0
#include "node-agent/state/state_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace reclaim::agent {

absl::StatusOr<StateFolder> StateFolder::Hold(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS) {
    return absl::ErrnoToStatus(errno, absl::StrCat("create the folder ", path));
  }
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("open the folder ", path));
  StateFolder folder(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return folder;
  if (errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat("another reclaim-node-agent works with ", path,
                     "; two on one node would undo each other's settings, so end that one first"));
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("lock the folder ", path));
}

StateFolder::~StateFolder() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace reclaim::agent
