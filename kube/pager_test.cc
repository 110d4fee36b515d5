// SPDX-License-Identifier: Apache-2.0
#include "kube/pager.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/status.h"
#include "kube/testing/scripted_transport.h"

namespace reclaim::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using testing::ScriptedTransport;

Json Page(const std::vector<std::string>& names, const std::string& next) {
  Json items = Json::array();
  for (const std::string& name : names) items.push_back({{"metadata", {{"name", name}}}});
  return {{"kind", "List"},
          {"metadata", {{"resourceVersion", "70"}, {"continue", next}}},
          {"items", items}};
}

class PagerTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> List(const std::string& version) {
    return ListAll(client_, Nodes(), {.resource_version = version, .limit = 2},
                   {.on_restart = [this] { names_.clear(); },
                    .on_item = [this](const Json& item) { names_.push_back(NameOf(item)); }});
  }

  ScriptedTransport transport_;
  Client client_{transport_};
  std::vector<std::string> names_ = {"left over"};
};

TEST_F(PagerTest, FollowsTheContinueTokens) {
  transport_.Answer(Page({"a", "b"}, "t1"));
  transport_.Answer(Page({"c"}, ""));
  EXPECT_EQ(List("0").value(), "70");
  EXPECT_THAT(names_, ElementsAre("a", "b", "c"));
  EXPECT_THAT(transport_.requests[0].query,
              ElementsAre(Pair("resourceVersion", "0"), Pair("limit", "2")));
  EXPECT_THAT(transport_.requests[1].query,
              ElementsAre(Pair("limit", "2"), Pair("continue", "t1")));
}

TEST_F(PagerTest, ATokenThatExpiredMeansOneFullListAtTheVersionAskedFor) {
  transport_.Answer(Page({"a", "gone"}, "t1"));
  transport_.Answer(410, R"({"kind":"Status","reason":"Expired"})");
  transport_.Answer(Page({"a", "b", "c"}, ""));
  EXPECT_EQ(List("0").value(), "70");
  EXPECT_THAT(names_, ElementsAre("a", "b", "c"));
  EXPECT_THAT(transport_.requests[2].query, ElementsAre(Pair("resourceVersion", "0")));
}

TEST_F(PagerTest, A410OnTheFirstPageIsTheCallersBusiness) {
  transport_.Answer(410, R"({"kind":"Status","reason":"Expired"})");
  EXPECT_TRUE(IsGone(List("5").status()));
  EXPECT_EQ(transport_.requests.size(), 1);
}

TEST_F(PagerTest, AVersionOtherThanZeroIsReadInOneAnswer) {
  transport_.Answer(Page({"a"}, ""));
  ASSERT_TRUE(List("5").ok());
  EXPECT_THAT(transport_.requests[0].query, ElementsAre(Pair("resourceVersion", "5")));
}

TEST_F(PagerTest, AConsistentListIsPaged) {
  transport_.Answer(Page({}, ""));
  ASSERT_TRUE(List("").ok());
  EXPECT_THAT(transport_.requests[0].query, ElementsAre(Pair("limit", "2")));
}

TEST_F(PagerTest, NullItemsAreAnEmptyListAndOtherThingsAnError) {
  transport_.Answer(Json{{"metadata", {{"resourceVersion", "1"}}}, {"items", nullptr}});
  EXPECT_EQ(List("0").value(), "1");
  transport_.Answer(Json{{"metadata", {{"resourceVersion", "1"}}}, {"items", "x"}});
  EXPECT_FALSE(List("0").ok());
  transport_.Answer(Json{{"items", Json::array()}});
  EXPECT_FALSE(List("0").ok());
}

}  // namespace
}  // namespace reclaim::kube
