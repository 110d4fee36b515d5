// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/authority_bundle.h"

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace reclaim::op {
namespace {

// Why `stored` cannot go on signing; OK when it can.
absl::Status CheckUsable(const AuthorityBundle& stored, absl::Time now) {
  absl::Status authority = CheckAuthority(stored);
  if (!authority.ok()) return authority;
  const auto validity = ValidityOf(stored.signer.certificate_pem);
  if (!validity.ok()) return validity.status();
  if (now >= validity->RenewAt()) {
    return absl::OutOfRangeError(
        absl::StrCat("two thirds of its life were over at ",
                     absl::FormatTime(validity->RenewAt(), absl::UTCTimeZone())));
  }
  return absl::OkStatus();
}

// The certificates of `bundle_pem` that can be read and have not ended.
std::string StillValid(const std::string& bundle_pem, absl::Time now) {
  std::string kept;
  for (const std::string& pem : SplitBundle(bundle_pem)) {
    const auto validity = ValidityOf(pem);
    if (validity.ok() && now < validity->not_after) absl::StrAppend(&kept, pem);
  }
  return kept;
}

}  // namespace

absl::Status CheckAuthority(const AuthorityBundle& authority) {
  absl::Status pair = CheckKeyPair(authority.signer);
  if (!pair.ok()) return pair;
  return ValidityOf(authority.signer.certificate_pem).status();
}

absl::StatusOr<NextAuthority> NextAuthorityBundle(const AuthorityBundle* stored, absl::Time now) {
  if (stored != nullptr) {
    const absl::Status usable = CheckUsable(*stored, now);
    if (usable.ok()) return NextAuthority{*stored, /*changed=*/false};
    LogWarning("certificate authority replaced", {{"why", usable.message()}});
  }
  auto made = NewAuthority("reclaim-operator-ca", now, kAuthorityLifetime);
  if (!made.ok()) return made.status();
  const std::string old = stored == nullptr ? "" : StillValid(stored->bundle_pem, now);
  std::string bundle = absl::StrCat(made->certificate_pem, old);
  return NextAuthority{{*std::move(made), std::move(bundle)}, /*changed=*/true};
}

}  // namespace reclaim::op
