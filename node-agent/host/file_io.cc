// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace reclaim::agent {
namespace {

int OpenRetrying(const std::string& path, int flags) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// ENODEV: the file is there and its subject is gone, as the memory of a NUMA node that went
// offline, or a cgroup that ended after the open.
bool IsAbsence(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ENODEV;
}

}  // namespace

std::string ErrnoName(int error_number) {
  const char* name = strerrorname_np(error_number);
  const char* text = strerrordesc_np(error_number);
  if (name == nullptr || text == nullptr) return absl::StrCat("errno ", error_number);
  return absl::StrCat(name, " (", text, ")");
}

Maybe<std::string> ReadFile(const KernelFile& file, size_t max_bytes) {
  const int fd = OpenRetrying(file.path, O_RDONLY);
  if (fd < 0) {
    if (IsAbsence(errno)) return std::nullopt;
    return absl::ErrnoToStatus(errno, absl::StrCat("open ", file.name));
  }
  const absl::Cleanup closer = [fd] { close(fd); };
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count == 0) return text;
    if (count < 0) {
      if (errno == EINTR) continue;
      if (IsAbsence(errno)) return std::nullopt;
      return absl::ErrnoToStatus(errno, absl::StrCat("read ", file.name));
    }
    if (text.size() + count > max_bytes) {
      return absl::OutOfRangeError(
          absl::StrCat(file.name, " has more than ", max_bytes, " bytes; that is not its format"));
    }
    text.append(buffer, count);
  }
}

bool Exists(const KernelFile& file) { return access(file.path.c_str(), F_OK) == 0; }

int64_t PageBytes() { return sysconf(_SC_PAGESIZE); }

absl::StatusOr<int64_t> ParseInteger(absl::string_view text) {
  int64_t value;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("not one number: \"", absl::CHexEscape(text.substr(0, 40)), "\""));
  }
  return value;
}

Maybe<int64_t> ReadInteger(const KernelFile& file) { return ReadParsed(file, ParseInteger); }

int RealKernelWriter::Write(const KernelFile& file, absl::string_view text) {
  const int fd = OpenRetrying(file.path, O_WRONLY | O_TRUNC);
  if (fd < 0) return errno;
  const absl::Cleanup closer = [fd] { close(fd); };
  ssize_t count;
  do {
    count = write(fd, text.data(), text.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return errno;
  return static_cast<size_t>(count) == text.size() ? 0 : EIO;
}

}  // namespace reclaim::agent
