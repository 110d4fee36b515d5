// SPDX-License-Identifier: Apache-2.0
#include "kube/store.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::Pointee;

Json Object(const std::string& name, const std::string& version, const std::string& label,
            const std::string& uid = "") {
  return {{"metadata",
           {{"name", name},
            {"uid", uid.empty() ? "uid-" + name : uid},
            {"resourceVersion", version},
            {"labels", {{"l", label}}}}}};
}

absl::StatusOr<std::string> Label(const Json& object) {
  const std::string label = StringAt(object, {"metadata", "labels", "l"});
  if (label == "bad") return absl::InvalidArgumentError("bad label");
  if (label == "throws") object.at("no such member");
  return label;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    store_.AddHandler({
        .added = [this](absl::string_view key,
                        const auto& now) { log_.push_back(absl::StrCat("+", key, " ", *now)); },
        .updated =
            [this](absl::string_view key, const auto& before, const auto& now) {
              log_.push_back(absl::StrCat("~", key, " ", *before, ">", *now));
            },
        .deleted =
            [this](absl::string_view key, const auto& last, bool known) {
              log_.push_back(absl::StrCat("-", key, " ", *last, known ? "" : " (unknown)"));
            },
    });
  }

  void List(const std::vector<Json>& objects) {
    store_.BeginList();
    for (const Json& object : objects) store_.ListItem(object);
    store_.EndList();
  }

  std::vector<std::string> TakeLog() { return std::exchange(log_, {}); }

  Store<std::string> store_{Label};
  std::vector<std::string> log_;
};

TEST_F(StoreTest, IsSyncedOnlyAfterACompleteList) {
  store_.BeginList();
  store_.ListItem(Object("a", "1", "x"));
  EXPECT_FALSE(store_.HasSynced());
  EXPECT_EQ(store_.size(), 0);
  store_.BeginList();  // the first attempt broke off
  store_.ListItem(Object("b", "1", "y"));
  store_.EndList();
  EXPECT_TRUE(store_.HasSynced());
  EXPECT_THAT(store_.List(), ElementsAre(Pair("b", Pointee(std::string("y")))));
}

TEST_F(StoreTest, AHandlerSeesTheStoreAsItIsAfterTheChangeAndBeforeItCountsAsSynced) {
  bool synced_in_handler = true;
  size_t size_in_handler = 0;
  Store<std::string> store(Label);
  store.AddHandler({.added = [&](absl::string_view, const auto&) {
    synced_in_handler = store.HasSynced();
    size_in_handler = store.size();
  }});
  store.BeginList();
  store.ListItem(Object("a", "1", "x"));
  store.ListItem(Object("b", "1", "x"));
  store.EndList();
  EXPECT_EQ(size_in_handler, 2);
  EXPECT_FALSE(synced_in_handler);
  EXPECT_TRUE(store.HasSynced());
}

TEST_F(StoreTest, AnotherListTellsWhatIsNewChangedAndGone) {
  List({Object("same", "1", "x"), Object("changed", "1", "x"), Object("gone", "1", "x")});
  TakeLog();
  List({Object("same", "1", "x"), Object("changed", "2", "y"), Object("new", "3", "x")});
  EXPECT_THAT(TakeLog(), ElementsAre("~changed x>y", "+new x", "-gone x (unknown)"));
  EXPECT_EQ(store_.Get("gone"), nullptr);
}

TEST_F(StoreTest, AnEqualProjectionIsNoUpdate) {
  List({Object("a", "1", "x")});
  TakeLog();
  store_.Upsert(Object("a", "2", "x"));
  EXPECT_THAT(TakeLog(), IsEmpty());
  store_.Upsert(Object("a", "3", "y"));
  EXPECT_THAT(TakeLog(), ElementsAre("~a x>y"));
}

TEST_F(StoreTest, AnObjectMadeAnewUnderItsNameIsDeletedAndAdded) {
  List({Object("a", "1", "x", "uid1"), Object("b", "1", "x", "uid1")});
  TakeLog();
  List({Object("a", "9", "x", "uid2"), Object("b", "1", "x", "uid1")});
  EXPECT_THAT(TakeLog(), ElementsAre("-a x (unknown)", "+a x"));
  store_.Upsert(Object("b", "10", "y", "uid2"));
  EXPECT_THAT(TakeLog(), ElementsAre("-b x (unknown)", "+b y"));
}

TEST_F(StoreTest, DeleteHandsOutTheFinalStateOnce) {
  List({Object("a", "1", "x")});
  TakeLog();
  store_.Delete(Object("a", "2", "final"));
  store_.Delete(Object("a", "2", "final"));
  EXPECT_THAT(TakeLog(), ElementsAre("-a final"));
}

TEST_F(StoreTest, KeepsTheLastGoodVersionOfWhatItCannotRead) {
  List({Object("a", "1", "x"), Object("new", "1", "bad")});
  TakeLog();
  store_.Upsert(Object("a", "2", "bad"));
  List({Object("a", "3", "throws")});
  EXPECT_THAT(TakeLog(), IsEmpty());
  EXPECT_EQ(*store_.Get("a"), "x");
  EXPECT_EQ(store_.projection_failures(), 3);
  store_.Delete(Object("a", "4", "bad"));
  EXPECT_THAT(TakeLog(), ElementsAre("-a x (unknown)"));
}

TEST(KeepWholeObjectTest, DropsManagedFieldsOnly) {
  Json object = Object("a", "1", "x");
  const Json expected = object;
  object["metadata"]["managedFields"] = Json::array({1, 2, 3});
  EXPECT_EQ(KeepWholeObject(object).value(), expected);
  EXPECT_EQ(KeepWholeObject(Json::object()).value(), Json::object());
}

}  // namespace
}  // namespace reclaim::kube
