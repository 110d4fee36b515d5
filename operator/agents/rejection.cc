// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/rejection.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reclaim::op {

const char* RejectionLabel(RejectionReason reason) {
  switch (reason) {
    case RejectionReason::kNoToken:
      return "no_token";
    case RejectionReason::kNotAuthenticated:
      return "not_authenticated";
    case RejectionReason::kWrongServiceAccount:
      return "wrong_service_account";
    case RejectionReason::kNoNodeClaim:
      return "no_node_claim";
    case RejectionReason::kWrongNode:
      return "wrong_node";
    case RejectionReason::kUnknownNode:
      return "unknown_node";
    case RejectionReason::kReviewUnavailable:
      return "review_unavailable";
    case RejectionReason::kOverloaded:
      return "overloaded";
  }
  return "unknown";
}

grpc::Status Rejection::ToGrpcStatus() const {
  switch (reason) {
    case RejectionReason::kNoToken:
    case RejectionReason::kNotAuthenticated:
      return {grpc::StatusCode::UNAUTHENTICATED, message};
    case RejectionReason::kReviewUnavailable:
    case RejectionReason::kOverloaded:
      return {grpc::StatusCode::UNAVAILABLE, message};
    default:
      return {grpc::StatusCode::PERMISSION_DENIED, message};
  }
}

std::string BearerToken(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return "";
  authorization.remove_prefix(kScheme.size());
  return std::string(absl::StripAsciiWhitespace(authorization));
}

std::variant<AgentIdentity, Rejection> JudgeReview(
    const absl::StatusOr<kube::TokenIdentity>& review, absl::string_view agent_user) {
  if (!review.ok()) {
    const bool refused = absl::IsUnauthenticated(review.status());
    return Rejection{
        refused ? RejectionReason::kNotAuthenticated : RejectionReason::kReviewUnavailable,
        std::string(review.status().message())};
  }
  if (review->username != agent_user) {
    return Rejection{RejectionReason::kWrongServiceAccount,
                     absl::StrCat("the token is of ", review->username, ", only ", agent_user,
                                  " is served here")};
  }
  if (review->node_name.empty()) {
    return Rejection{RejectionReason::kNoNodeClaim,
                     "the token is not bound to a pod on a node; use a projected service-account "
                     "token"};
  }
  return AgentIdentity{review->node_name, review->node_uid};
}

}  // namespace reclaim::op
