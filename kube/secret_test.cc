// SPDX-License-Identifier: Apache-2.0
#include "kube/secret.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(SecretTest, BytesComeBackAsTheyWere) {
  const SecretData data = {
      {"tls.crt", "-----BEGIN"}, {"bytes", std::string("\0\xff\n", 3)}, {"e", ""}};
  const Json secret = MakeSecret("ns", "ca", "Opaque", data);
  EXPECT_EQ(KeyOf(secret), "ns/ca");
  EXPECT_EQ(StringAt(secret, {"data", "bytes"}), "AP8K");
  EXPECT_EQ(DecodeSecret(secret).value(), data);
}

TEST(SecretTest, ReplacesDataAndKeepsTheRest) {
  Json secret = MakeSecret("ns", "ca", "Opaque", {{"old", "1"}});
  secret["metadata"]["resourceVersion"] = "5";
  SetSecretData(secret, {{"new", "2"}});
  EXPECT_EQ(ResourceVersionOf(secret), "5");
  EXPECT_EQ(DecodeSecret(secret).value(), (SecretData{{"new", "2"}}));
}

TEST(SecretTest, NamesTheKeyOfABadValueButNotTheValue) {
  Json secret = MakeSecret("ns", "ca", "Opaque", {});
  secret["data"]["key"] = "not base64!";
  const absl::Status status = DecodeSecret(secret).status();
  EXPECT_THAT(status.message(), HasSubstr("secret ns/ca: data[\"key\"]"));
  EXPECT_THAT(status.message(), Not(HasSubstr("not base64!")));
}

TEST(SecretTest, ASecretWithoutDataIsEmpty) {
  EXPECT_THAT(DecodeSecret(Json::object()).value(), IsEmpty());
  EXPECT_FALSE(DecodeSecret({{"data", 5}}).ok());
}

}  // namespace
}  // namespace reclaim::kube
