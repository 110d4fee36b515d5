// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/authority_store.h"

#include <utility>

#include "common/log.h"
#include "kube/secret.h"
#include "kube/status.h"

namespace reclaim::op {
namespace {

constexpr char kName[] = "reclaim-operator-ca";
constexpr char kCertificateKey[] = "ca.crt";
constexpr char kPrivateKey[] = "ca.key";
constexpr char kFieldManager[] = "reclaim-operator-ca";
// Losing the race to create or renew means that somebody else has done it: read again.
constexpr int kAttempts = 3;

kube::SecretData ToData(const AuthorityBundle& authority) {
  return {{kCertificateKey, authority.bundle_pem}, {kPrivateKey, authority.signer.key_pem}};
}

AuthorityBundle FromData(const kube::SecretData& data) {
  AuthorityBundle authority;
  if (auto it = data.find(kCertificateKey); it != data.end()) authority.bundle_pem = it->second;
  if (auto it = data.find(kPrivateKey); it != data.end()) authority.signer.key_pem = it->second;
  const auto certificates = SplitBundle(authority.bundle_pem);
  if (!certificates.empty()) authority.signer.certificate_pem = certificates.front();
  return authority;
}

}  // namespace

absl::StatusOr<AuthorityBundle> AuthorityStore::Ensure() {
  auto authority = EnsureSecret();
  if (!authority.ok()) return authority.status();
  last_ = *authority;
  const absl::Status published = EnsureConfigMap(*authority);
  if (!published.ok()) return published;
  return authority;
}

absl::StatusOr<AuthorityBundle> AuthorityStore::EnsureSecret() {
  absl::Status last_error;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto secret = client_.Get(kube::Secrets(), {name_space_, kName});
    const bool missing = !secret.ok() && kube::IsNotFound(secret.status());
    if (!secret.ok() && !missing) return secret.status();

    std::optional<AuthorityBundle> stored;
    bool lost = missing;
    if (!missing) {
      const auto data = kube::DecodeSecret(*secret);
      if (!data.ok()) return data.status();
      stored = FromData(*data);
      if (const absl::Status damage = CheckAuthority(*stored); !damage.ok() && last_.has_value()) {
        LogWarning("certificate authority damaged, written again", {{"why", damage.message()}});
        lost = true;
      }
    }
    if (lost) stored = last_;
    auto next = NextAuthorityBundle(stored.has_value() ? &*stored : nullptr, clock_.Now());
    if (!next.ok()) return next.status();
    if (!lost && !next->changed) return std::move(next->authority);

    absl::StatusOr<kube::Json> written;
    if (missing) {
      written = client_.Create(
          kube::Secrets(), kube::MakeSecret(name_space_, kName, "Opaque", ToData(next->authority)));
    } else {
      kube::SetSecretData(*secret, ToData(next->authority));
      written = client_.Update(kube::Secrets(), *secret);
    }
    if (written.ok()) {
      LogInfo("certificate authority written", {{"secret", kName}, {"namespace", name_space_}});
      return std::move(next->authority);
    }
    last_error = written.status();
    if (!kube::IsAlreadyExists(last_error) && !kube::IsConflict(last_error)) break;
  }
  return last_error;
}

absl::Status AuthorityStore::EnsureConfigMap(const AuthorityBundle& authority) {
  const auto present = client_.Get(kube::ConfigMaps(), {name_space_, kName});
  if (present.ok() && kube::StringAt(*present, {"data", kCertificateKey}) == authority.bundle_pem) {
    return absl::OkStatus();
  }
  if (!present.ok() && !kube::IsNotFound(present.status())) return present.status();
  const kube::Json intent = {{"apiVersion", "v1"},
                             {"kind", "ConfigMap"},
                             {"metadata", {{"name", kName}, {"namespace", name_space_}}},
                             {"data", {{kCertificateKey, authority.bundle_pem}}}};
  const auto applied =
      client_.Apply(kube::ConfigMaps(), intent, {.field_manager = kFieldManager, .force = true});
  if (applied.ok()) {
    LogInfo("certificate published", {{"configmap", kName}, {"namespace", name_space_}});
  }
  return applied.status();
}

}  // namespace reclaim::op
