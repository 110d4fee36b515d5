// SPDX-License-Identifier: Apache-2.0
#include "kube/json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JsonTest, NamesThePositionOfAnErrorAndNotTheInput) {
  const absl::StatusOr<Json> json = ParseJson(R"({"token": "s3cret" ])", "answer");
  ASSERT_FALSE(json.ok());
  EXPECT_THAT(json.status().message(), HasSubstr("answer: not valid JSON at byte 20"));
  EXPECT_THAT(json.status().message(), Not(HasSubstr("s3cret")));
}

TEST(JsonTest, EscapesNoSlashes) { EXPECT_EQ(DumpJson({{"path", "/a/b"}}), R"({"path":"/a/b"})"); }

TEST(JsonTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(DumpJson({{"text", "a\xff"}}), "{\"text\":\"a\xef\xbf\xbd\"}");
}

TEST(JsonTest, AccessNeverThrowsWhateverTheTypes) {
  const Json object = {{"metadata", {{"name", 7}, {"labels", nullptr}}}, {"items", {1, 2}}};
  EXPECT_EQ(NameOf(object), "");
  EXPECT_EQ(StringAt(object, {"metadata", "labels", "a"}, "none"), "none");
  EXPECT_EQ(StringAt(object, {"items", "0"}), "");
  EXPECT_EQ(IntAt(object, {"metadata", "name"}), 7);
  EXPECT_EQ(IntAt(object, {"items"}, -1), -1);
  EXPECT_EQ(Find(Json("text"), {"a"}), nullptr);
  EXPECT_EQ(KeyOf(Json()), "");
}

TEST(JsonTest, KeyHasTheNamespaceOnlyWhereThereIsOne) {
  EXPECT_EQ(KeyOf({{"metadata", {{"name", "n1"}}}}), "n1");
  EXPECT_EQ(KeyOf({{"metadata", {{"name", "cm"}, {"namespace", "ns"}}}}), "ns/cm");
}

}  // namespace
}  // namespace reclaim::kube
