// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_PKI_AUTHORITY_BUNDLE_H_
#define RECLAIM_OPERATOR_PKI_AUTHORITY_BUNDLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "operator/pki/certificate.h"

namespace reclaim::op {

inline constexpr absl::Duration kAuthorityLifetime = absl::Hours(24 * 3650);

// The authority that signs, and all whose signatures agents should accept: its own certificate
// first, then those before it that have not ended.
struct AuthorityBundle {
  KeyPair signer;
  std::string bundle_pem;
};

// Why `authority` is none, of whatever age: no certificate, or a key that does not fit it.
absl::Status CheckAuthority(const AuthorityBundle& authority);

// What the authority should be, from what it was. Pure but for randomness.
//   stored  as kept; nullptr = none
// A new authority is made when there is none, when the stored one cannot be used (its key does not
// fit, or it is no certificate), or when two thirds of its life are over; then the old certificate
// stays in the bundle, so that agents and operators that have not seen the new one still agree.
// `changed` tells whether the result differs from `stored`.
struct NextAuthority {
  AuthorityBundle authority;
  bool changed;
};
absl::StatusOr<NextAuthority> NextAuthorityBundle(const AuthorityBundle* stored, absl::Time now);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_PKI_AUTHORITY_BUNDLE_H_
