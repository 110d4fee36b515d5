// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_PKI_AUTHORITY_STORE_H_
#define RECLAIM_OPERATOR_PKI_AUTHORITY_STORE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "kube/client.h"
#include "operator/pki/authority_bundle.h"

namespace reclaim::op {

// Keeps the certificate authority in the Secret reclaim-operator-ca (ca.crt: the bundle, newest
// first; ca.key) and its certificates, which agents mount, in the ConfigMap of the same name.
//
// Not thread-safe. `client` and `clock` must outlive it.
class AuthorityStore {
 public:
  AuthorityStore(kube::Client& client, Clock& clock, std::string name_space)
      : client_(client), clock_(clock), name_space_(std::move(name_space)) {}

  // Reads the authority, makes or renews it when that is due, and brings the ConfigMap in line.
  // Writes only what differs. Of several operators that start together one wins and the others take
  // its authority over. A Secret that was deleted or damaged is written again from memory.
  absl::StatusOr<AuthorityBundle> Ensure();

 private:
  absl::StatusOr<AuthorityBundle> EnsureSecret();
  absl::Status EnsureConfigMap(const AuthorityBundle& authority);

  kube::Client& client_;
  Clock& clock_;
  const std::string name_space_;
  std::optional<AuthorityBundle> last_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_PKI_AUTHORITY_STORE_H_
