// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_PKI_CERTIFICATE_FOLDER_H_
#define RECLAIM_OPERATOR_PKI_CERTIFICATE_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "operator/pki/certificate.h"

namespace reclaim::op {

// Hands a certificate to gRPC, which of 1.51 takes a new one at run time from files only.
//
// A private folder (mode 0700) below `parent`, by default in memory; removed at the end. Replacing
// the pair is one rename of a symbolic link, so a reader sees the old pair or the new one, and each
// pair has a later modification time in whole seconds, which is what gRPC compares.
//
// Not thread-safe.
class CertificateFolder {
 public:
  static absl::StatusOr<std::unique_ptr<CertificateFolder>> Create(const std::string& parent);
  ~CertificateFolder();
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;

  // `now` is the modification time, unless that would not be later than the last one.
  absl::Status Write(const KeyPair& pair, absl::Time now);

  // Valid after the first Write.
  std::string certificate_path() const { return path_ + "/current/tls.crt"; }
  std::string key_path() const { return path_ + "/current/tls.key"; }

 private:
  explicit CertificateFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  int64_t written_ = 0;
  int64_t last_mtime_seconds_ = 0;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_PKI_CERTIFICATE_FOLDER_H_
