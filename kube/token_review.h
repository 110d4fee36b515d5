// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TOKEN_REVIEW_H_
#define RECLAIM_KUBE_TOKEN_REVIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client.h"

namespace reclaim::kube {

// Whom the API server found behind a token.
struct TokenIdentity {
  std::string username;  // "system:serviceaccount:NAMESPACE:NAME"
  std::string uid;
  std::vector<std::string> groups;
  // From the claims of a token bound to a pod (authentication.kubernetes.io/…); empty when the
  // token has none. More than one value counts as none.
  std::string node_name;
  std::string node_uid;
  std::string pod_name;
  std::string pod_uid;
};

// Asks the API server about `token` (TokenReview). The token must be valid for `audience`, which
// must not be empty; a server that does not confirm the audience has not validated the token.
//
// kUnauthenticated: the token is refused; the message says why and never contains the token.
// kUnavailable: the server could not be asked (also when it refused *our* credentials); nothing is
// known about the token.
absl::StatusOr<TokenIdentity> ReviewToken(Client& client, absl::string_view token,
                                          absl::string_view audience);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_TOKEN_REVIEW_H_
