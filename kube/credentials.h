// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_CREDENTIALS_H_
#define RECLAIM_KUBE_CREDENTIALS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/config.h"

namespace reclaim::kube {

// Reads a whole file; injected so that tests can fail it.
using FileReader = std::function<absl::StatusOr<std::string>(const std::string& path)>;
absl::StatusOr<std::string> ReadFile(const std::string& path);

// The bearer token of the moment. A bound service-account token is replaced on disk by the kubelet
// long before it ends, so the file is read again every minute (10 s early). When a read fails, or
// gives an empty token, the old one stays in use.
//
// Thread-safe.
class TokenSource {
 public:
  static constexpr absl::Duration kRereadAfter = absl::Seconds(60);
  static constexpr absl::Duration kLeeway = absl::Seconds(10);

  // Reads nothing yet. A config without a token gives "" from Token().
  TokenSource(const ClientConfig& config, Clock& clock, FileReader read = ReadFile);

  // The token without surrounding whitespace; "" when the configuration has none. An error only
  // when the file has never been read successfully.
  absl::StatusOr<std::string> Token();

  // The server answered 401 to a request that began at `request_start` (Clock::Monotonic): a token
  // read before that is dropped, and the next Token() reads the file.
  void OnUnauthorized(absl::Duration request_start);

 private:
  const std::string fixed_token_;
  const std::string path_;
  Clock& clock_;
  const FileReader read_;
  absl::Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  absl::Duration read_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

// Certificates as PEM text. `generation` rises each time a file's content changed: a connection
// made with an older generation must not be used again.
struct TlsMaterial {
  std::string ca_pem;    // empty: the machine's trust store
  std::string cert_pem;  // leaf first, then intermediates; empty: no client certificate
  std::string key_pem;
  uint64_t generation = 0;
};

// The certificates of the moment, re-read from their files at most once a minute. A read that
// fails, or files of which the certificate does not fit the key (a rotation seen half way), keep
// the old material.
//
// Thread-safe.
class TlsSource {
 public:
  static constexpr absl::Duration kRereadAfter = absl::Seconds(60);

  TlsSource(const ClientConfig& config, Clock& clock, FileReader read = ReadFile);

  // Never null when OK. An error only when the material could not be loaded even once.
  absl::StatusOr<std::shared_ptr<const TlsMaterial>> Material();

 private:
  absl::StatusOr<TlsMaterial> Load() const;

  const PemSource ca_;
  const PemSource cert_;
  const PemSource key_;
  Clock& clock_;
  const FileReader read_;
  absl::Mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  absl::Duration read_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_CREDENTIALS_H_
