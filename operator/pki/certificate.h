// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_PKI_CERTIFICATE_H_
#define RECLAIM_OPERATOR_PKI_CERTIFICATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace reclaim::op {

// X.509 with ECDSA P-256 and SHA-256, on OpenSSL. No I/O, no clock inside.

// A certificate and its private key (PKCS #8), both PEM.
struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

struct Validity {
  absl::Time not_before;
  absl::Time not_after;

  // When a certificate should be replaced: two thirds of its life.
  absl::Time RenewAt() const { return not_before + (not_after - not_before) * 2 / 3; }
};

// Certificates are valid from this long before `now`, for clocks that are behind ours.
inline constexpr absl::Duration kClockSkew = absl::Minutes(5);

// A self-signed authority that may sign end certificates only.
absl::StatusOr<KeyPair> NewAuthority(absl::string_view common_name, absl::Time now,
                                     absl::Duration lifetime);

// A server certificate for `dns_names` (at least one), signed by `authority`.
absl::StatusOr<KeyPair> IssueServerCertificate(const KeyPair& authority,
                                               const std::vector<std::string>& dns_names,
                                               absl::Time now, absl::Duration lifetime);

// Of the first certificate in `pem`.
absl::StatusOr<Validity> ValidityOf(absl::string_view pem);

// Whether the key belongs to the (first) certificate; kInvalidArgument says what is wrong.
absl::Status CheckKeyPair(const KeyPair& pair);

// Whether `certificate_pem` was signed by one of the authorities in `bundle_pem` and names `host`,
// judged at `now` as a TLS client does.
absl::Status VerifyServerCertificate(absl::string_view certificate_pem,
                                     absl::string_view bundle_pem, const std::string& host,
                                     absl::Time now);

// The certificates of a PEM text one by one; what is not a certificate is left out.
std::vector<std::string> SplitBundle(absl::string_view bundle_pem);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_PKI_CERTIFICATE_H_
