// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_REJECTION_H_
#define RECLAIM_OPERATOR_AGENTS_REJECTION_H_

#include <grpcpp/support/status.h>

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/token_review.h"

namespace reclaim::op {

// Why a stream was not served: the closed set of values of the label `reason` of
// reclaim_operator_streams_rejected_total.
enum class RejectionReason {
  kNoToken,              // no `authorization: Bearer …` in the metadata
  kNotAuthenticated,     // the API server refuses the token: expired, other audience, forged
  kWrongServiceAccount,  // a good token, but not of the agent's service account
  kNoNodeClaim,          // the token is not bound to a pod on a node
  kWrongNode,            // the Hello names another node than the token
  kUnknownNode,          // no such Node object, or it was replaced by one of the same name
  kReviewUnavailable,    // the API server could not be asked
  kOverloaded,           // too many streams wait for their review
};

inline constexpr RejectionReason kAllRejectionReasons[] = {RejectionReason::kNoToken,
                                                           RejectionReason::kNotAuthenticated,
                                                           RejectionReason::kWrongServiceAccount,
                                                           RejectionReason::kNoNodeClaim,
                                                           RejectionReason::kWrongNode,
                                                           RejectionReason::kUnknownNode,
                                                           RejectionReason::kReviewUnavailable,
                                                           RejectionReason::kOverloaded};

// "no_token", "not_authenticated", …
const char* RejectionLabel(RejectionReason reason);

struct Rejection {
  RejectionReason reason;
  std::string message;  // for the agent's log; never contains the token

  // UNAUTHENTICATED, PERMISSION_DENIED, or UNAVAILABLE for what is not the agent's fault.
  grpc::Status ToGrpcStatus() const;
};

// Who an agent has proved to be.
struct AgentIdentity {
  std::string node_name;
  std::string node_uid;  // empty when the API server does not say
};

// The token in the value of an `authorization` header, or "" when it is not a bearer token.
std::string BearerToken(absl::string_view authorization);

// Decides about the answer to a token review. Pure.
//   agent_user  "system:serviceaccount:NAMESPACE:NAME", the only user that is served
std::variant<AgentIdentity, Rejection> JudgeReview(
    const absl::StatusOr<kube::TokenIdentity>& review, absl::string_view agent_user);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_REJECTION_H_
