// SPDX-License-Identifier: Apache-2.0
#include "node-agent/link/operator_credentials.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "node-agent/state/durable_file.h"

namespace reclaim::agent {
namespace {

constexpr size_t kMaxCredential = size_t{64} * 1024;

absl::StatusOr<std::string> ReadCredential(const std::string& path) {
  absl::StatusOr<std::optional<std::string>> text = ReadWhole(path, kMaxCredential);
  if (!text.ok()) return text.status();
  if (!text->has_value()) {
    return absl::NotFoundError(absl::StrCat(path, ": there is no such file (yet)"));
  }
  return **std::move(text);
}

}  // namespace

absl::StatusOr<OperatorCredentials> ReadOperatorCredentials(const std::string& ca_file,
                                                            const std::string& token_file) {
  OperatorCredentials credentials;
  absl::StatusOr<std::string> ca = ReadCredential(ca_file);
  if (!ca.ok()) return ca.status();
  if (!absl::StrContains(*ca, "-----BEGIN CERTIFICATE-----")) {
    return absl::InvalidArgumentError(absl::StrCat(ca_file, ": holds no certificate"));
  }
  credentials.ca_pem = *std::move(ca);

  absl::StatusOr<std::string> token = ReadCredential(token_file);
  if (!token.ok()) return token.status();
  credentials.token = std::string(absl::StripAsciiWhitespace(*token));
  const bool printable = std::all_of(credentials.token.begin(), credentials.token.end(),
                                     [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (credentials.token.empty() || !printable) {
    return absl::InvalidArgumentError(absl::StrCat(token_file, ": holds no token"));
  }
  return credentials;
}

}  // namespace reclaim::agent
