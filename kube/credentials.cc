// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "kube/tls_context.h"

namespace reclaim::kube {
namespace {

// A token goes into a header: a control character in it would start another header.
bool FitsInHeader(absl::string_view token) {
  return std::none_of(token.begin(), token.end(),
                      [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

absl::StatusOr<std::string> ReadToken(const FileReader& read, const std::string& path) {
  absl::StatusOr<std::string> text = read(path);
  if (!text.ok()) return text.status();
  std::string token(absl::StripAsciiWhitespace(*text));
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": the token is empty"));
  if (!FitsInHeader(token)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a token: control characters in it"));
  }
  return token;
}

absl::StatusOr<std::string> LoadPem(const PemSource& source, const FileReader& read) {
  if (source.path.empty()) return source.data;
  absl::StatusOr<std::string> pem = read(source.path);
  // Empty text would mean "none configured": the machine's trust store instead of ours.
  if (pem.ok() && absl::StripAsciiWhitespace(*pem).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(source.path, ": the file is empty"));
  }
  return pem;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file.is_open() || file.bad() || errno == EISDIR) {
    const std::string message = absl::StrCat(path, ": ", std::strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
  }
  return text.str();
}

TokenSource::TokenSource(const ClientConfig& config, Clock& clock, FileReader read)
    : fixed_token_(config.token), path_(config.token_file), clock_(clock), read_(std::move(read)) {}

absl::StatusOr<std::string> TokenSource::Token() {
  if (path_.empty()) return fixed_token_;
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = clock_.Monotonic();
  if (!token_.empty() && now - read_at_ < kRereadAfter - kLeeway) return token_;
  absl::StatusOr<std::string> token = ReadToken(read_, path_);
  if (token.ok()) {
    token_ = *std::move(token);
    read_at_ = now;
    return token_;
  }
  if (token_.empty()) return token.status();
  LogWarning("token not readable, keeping the old one", {{"error", token.status().message()}});
  read_at_ = now;
  return token_;
}

void TokenSource::OnUnauthorized(absl::Duration request_start) {
  absl::MutexLock lock(&mutex_);
  if (read_at_ <= request_start) read_at_ = -absl::InfiniteDuration();
}

TlsSource::TlsSource(const ClientConfig& config, Clock& clock, FileReader read)
    : ca_(config.certificate_authority),
      cert_(config.client_certificate),
      key_(config.client_key),
      clock_(clock),
      read_(std::move(read)) {}

absl::StatusOr<TlsMaterial> TlsSource::Load() const {
  TlsMaterial material;
  for (const auto& [source, target] :
       {std::pair{&ca_, &material.ca_pem}, std::pair{&cert_, &material.cert_pem},
        std::pair{&key_, &material.key_pem}}) {
    absl::StatusOr<std::string> pem = LoadPem(*source, read_);
    if (!pem.ok()) return pem.status();
    *target = *std::move(pem);
  }
  absl::Status status = CheckTlsMaterial(material);
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat(status.message(), " (ca=", ca_.path,
                                                    " cert=", cert_.path, " key=", key_.path, ")"));
  }
  return material;
}

absl::StatusOr<std::shared_ptr<const TlsMaterial>> TlsSource::Material() {
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = clock_.Monotonic();
  const bool rotates = !ca_.path.empty() || !cert_.path.empty() || !key_.path.empty();
  if (material_ != nullptr && (!rotates || now - read_at_ < kRereadAfter)) return material_;
  absl::StatusOr<TlsMaterial> loaded = Load();
  if (!loaded.ok()) {
    if (material_ == nullptr) return loaded.status();
    LogWarning("certificates not usable, keeping the old ones",
               {{"error", loaded.status().message()}});
  } else if (material_ == nullptr || loaded->ca_pem != material_->ca_pem ||
             loaded->cert_pem != material_->cert_pem || loaded->key_pem != material_->key_pem) {
    loaded->generation = material_ == nullptr ? 1 : material_->generation + 1;
    material_ = std::make_shared<const TlsMaterial>(*std::move(loaded));
  }
  read_at_ = now;
  return material_;
}

}  // namespace reclaim::kube
