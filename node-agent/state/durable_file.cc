// SPDX-License-Identifier: Apache-2.0
#include "node-agent/state/durable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "node-agent/host/file_io.h"

namespace reclaim::agent {
namespace {

absl::Status Error(absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

absl::Status WriteAndSync(const std::string& path, absl::string_view content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Error("create", path);
  const absl::Cleanup closer = [fd] { close(fd); };
  while (!content.empty()) {
    const ssize_t count = write(fd, content.data(), content.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return Error("write", path);
    }
    content.remove_prefix(count);
  }
  if (fsync(fd) != 0) return Error("fsync", path);
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Error("open", path);
  const absl::Cleanup closer = [fd] { close(fd); };
  if (fsync(fd) != 0) return Error("fsync", path);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteDurably(const std::string& path, absl::string_view content) {
  const std::string neighbour = absl::StrCat(path, ".new");
  if (absl::Status status = WriteAndSync(neighbour, content); !status.ok()) return status;
  if (rename(neighbour.c_str(), path.c_str()) != 0) return Error("rename to", path);
  const size_t slash = path.rfind('/');
  return SyncDirectory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

absl::StatusOr<std::optional<std::string>> ReadWhole(const std::string& path, size_t max_bytes) {
  return ReadFile(KernelFile{path, path}, max_bytes);
}

}  // namespace reclaim::agent
