// SPDX-License-Identifier: Apache-2.0
#include "kube/token_review.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/scripted_transport.h"

namespace reclaim::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedTransport;

constexpr char kAudience[] = "reclaim-operator";

Json Review(const Json& status) {
  return {{"kind", "TokenReview"}, {"spec", {{"token", "s3cret"}}}, {"status", status}};
}

Json Accepted() {
  return {{"authenticated", true},
          {"audiences", {"other", kAudience}},
          {"user",
           {{"username", "system:serviceaccount:ns:agent"},
            {"uid", "u1"},
            {"groups", {"system:serviceaccounts", "system:authenticated"}},
            {"extra",
             {{"authentication.kubernetes.io/node-name", {"node1"}},
              {"authentication.kubernetes.io/pod-name", {"agent-x"}}}}}}};
}

class TokenReviewTest : public ::testing::Test {
 protected:
  absl::StatusOr<TokenIdentity> Ask(const Json& status) {
    transport_.Answer(201, DumpJson(Review(status)));
    return ReviewToken(client_, "s3cret", kAudience);
  }

  ScriptedTransport transport_;
  Client client_{transport_};
};

TEST_F(TokenReviewTest, TellsWhoAndOnWhichNode) {
  const auto identity = Ask(Accepted());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->username, "system:serviceaccount:ns:agent");
  EXPECT_THAT(identity->groups, ElementsAre("system:serviceaccounts", "system:authenticated"));
  EXPECT_EQ(identity->node_name, "node1");
  EXPECT_EQ(identity->pod_name, "agent-x");
  EXPECT_EQ(identity->pod_uid, "");
  const Json sent = ParseJson(transport_.requests[0].body, "body").value();
  EXPECT_EQ(sent["spec"], (Json{{"token", "s3cret"}, {"audiences", Json::array({kAudience})}}));
  EXPECT_EQ(transport_.requests[0].path, "/apis/authentication.k8s.io/v1/tokenreviews");
}

TEST_F(TokenReviewTest, RefusesWhateverIsNotAPlainYes) {
  Json no = {{"authenticated", false}, {"error", "token has expired"}};
  Json no_audience = Accepted();
  no_audience.erase("audiences");
  Json other_audience = Accepted();
  other_audience["audiences"] = {"other"};
  Json text = Accepted();
  text["authenticated"] = "true";
  Json nobody = Accepted();
  nobody["user"].erase("username");
  for (const Json& status :
       {no, no_audience, other_audience, text, nobody, Json::object(), Json()}) {
    const absl::Status refused = Ask(status).status();
    EXPECT_TRUE(absl::IsUnauthenticated(refused)) << status << refused;
    EXPECT_THAT(refused.message(), Not(HasSubstr("s3cret")));
  }
  EXPECT_THAT(Ask(no).status().message(), HasSubstr("token has expired"));
}

TEST_F(TokenReviewTest, TwoNodeNamesAreNone) {
  Json two = Accepted();
  two["user"]["extra"]["authentication.kubernetes.io/node-name"] = {"node1", "node2"};
  EXPECT_EQ(Ask(two)->node_name, "");
}

TEST_F(TokenReviewTest, NoVerdictIsNotARefusal) {
  for (int code : {401, 403, 500, 503}) {
    transport_.Answer(code, "");
    EXPECT_TRUE(absl::IsUnavailable(ReviewToken(client_, "t", kAudience).status())) << code;
  }
  transport_.Fail(absl::UnavailableError("refused"));
  EXPECT_TRUE(absl::IsUnavailable(ReviewToken(client_, "t", kAudience).status()));
}

TEST_F(TokenReviewTest, AsksNobodyWithoutATokenOrAnAudience) {
  EXPECT_TRUE(absl::IsUnauthenticated(ReviewToken(client_, "", kAudience).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReviewToken(client_, "t", "").status()));
  EXPECT_TRUE(transport_.requests.empty());
}

}  // namespace
}  // namespace reclaim::kube
