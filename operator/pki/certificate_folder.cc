// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/certificate_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace reclaim::op {
namespace {

absl::Status WriteFile(const std::string& path, const std::string& content, int64_t mtime_seconds) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  absl::Status status;
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      status = absl::ErrnoToStatus(errno, path);
      break;
    }
    done += static_cast<size_t>(n);
  }
  const timespec times[2] = {{mtime_seconds, 0}, {mtime_seconds, 0}};
  if (status.ok() && futimens(fd, times) != 0) status = absl::ErrnoToStatus(errno, path);
  if (close(fd) != 0 && status.ok()) status = absl::ErrnoToStatus(errno, path);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateFolder>> CertificateFolder::Create(
    const std::string& parent) {
  std::string path = parent + "/reclaim-operator-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make a folder for the certificate in ",
                                                   parent, " (--tls-dir)"));
  }
  return std::unique_ptr<CertificateFolder>(new CertificateFolder(std::move(path)));
}

CertificateFolder::~CertificateFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) LogWarning("folder not removed", {{"path", path_}, {"error", error.message()}});
}

absl::Status CertificateFolder::Write(const KeyPair& pair, absl::Time now) {
  const int64_t mtime = std::max(absl::ToUnixSeconds(now), last_mtime_seconds_ + 1);
  const std::string version = absl::StrCat(path_, "/", ++written_);
  if (mkdir(version.c_str(), 0700) != 0) return absl::ErrnoToStatus(errno, version);
  absl::Status status = WriteFile(version + "/tls.crt", pair.certificate_pem, mtime);
  if (status.ok()) status = WriteFile(version + "/tls.key", pair.key_pem, mtime);
  if (!status.ok()) return status;

  const std::string next = path_ + "/next";
  const std::string current = path_ + "/current";
  if (symlink(absl::StrCat(written_).c_str(), next.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, next);
  }
  if (rename(next.c_str(), current.c_str()) != 0) return absl::ErrnoToStatus(errno, current);
  last_mtime_seconds_ = mtime;

  std::error_code error;
  std::filesystem::remove_all(absl::StrCat(path_, "/", written_ - 1), error);
  if (error) LogWarning("old certificate not removed", {{"error", error.message()}});
  return absl::OkStatus();
}

}  // namespace reclaim::op
