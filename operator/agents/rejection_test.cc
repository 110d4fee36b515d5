// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/rejection.h"

#include <gtest/gtest.h>

#include <set>

namespace reclaim::op {
namespace {

constexpr char kAgent[] = "system:serviceaccount:reclaim-system:reclaim-node-agent";

TEST(BearerToken, ReadsTheHeader) {
  EXPECT_EQ(BearerToken("Bearer abc"), "abc");
  EXPECT_EQ(BearerToken("bearer  abc \n"), "abc");
  EXPECT_EQ(BearerToken("Bearer "), "");
  EXPECT_EQ(BearerToken("Bearer"), "");
  EXPECT_EQ(BearerToken("Basic abc"), "");
  EXPECT_EQ(BearerToken(""), "");
}

TEST(JudgeReview, ServesTheAgentOnItsNode) {
  kube::TokenIdentity identity;
  identity.username = kAgent;
  identity.node_name = "n1";
  identity.node_uid = "u1";
  const auto verdict = JudgeReview(identity, kAgent);
  ASSERT_TRUE(std::holds_alternative<AgentIdentity>(verdict));
  EXPECT_EQ(std::get<AgentIdentity>(verdict).node_name, "n1");
  EXPECT_EQ(std::get<AgentIdentity>(verdict).node_uid, "u1");
}

TEST(JudgeReview, RefusesEveryoneElse) {
  kube::TokenIdentity other;
  other.username = "system:serviceaccount:reclaim-system:default";
  other.node_name = "n1";
  kube::TokenIdentity unbound;
  unbound.username = kAgent;
  struct Case {
    const char* name;
    absl::StatusOr<kube::TokenIdentity> review;
    const char* label;
    grpc::StatusCode code;
  };
  const Case cases[] = {
      {"expired", absl::UnauthenticatedError("token refused: expired"), "not_authenticated",
       grpc::StatusCode::UNAUTHENTICATED},
      {"API server away", absl::UnavailableError("connection refused"), "review_unavailable",
       grpc::StatusCode::UNAVAILABLE},
      {"another service account", other, "wrong_service_account",
       grpc::StatusCode::PERMISSION_DENIED},
      {"not bound to a node", unbound, "no_node_claim", grpc::StatusCode::PERMISSION_DENIED},
  };
  for (const Case& c : cases) {
    const auto verdict = JudgeReview(c.review, kAgent);
    ASSERT_TRUE(std::holds_alternative<Rejection>(verdict)) << c.name;
    EXPECT_STREQ(RejectionLabel(std::get<Rejection>(verdict).reason), c.label) << c.name;
    EXPECT_EQ(std::get<Rejection>(verdict).ToGrpcStatus().error_code(), c.code) << c.name;
    EXPECT_FALSE(std::get<Rejection>(verdict).message.empty()) << c.name;
  }
}

TEST(RejectionLabel, IsDifferentForEachReason) {
  std::set<std::string> labels;
  for (RejectionReason reason : kAllRejectionReasons) labels.insert(RejectionLabel(reason));
  EXPECT_EQ(labels.size(), std::size(kAllRejectionReasons));
}

}  // namespace
}  // namespace reclaim::op
