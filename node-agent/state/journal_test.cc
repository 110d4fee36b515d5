// SPDX-License-Identifier: Apache-2.0
#include "node-agent/state/journal.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/state/durable_file.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

const SettingKey kKey{"kswapd.workers", 1};

TEST(JournalTest, ComesBackAsItWasSaved) {
  FakeHost host;
  const std::string path = host.StateDir() + "/journal.json";
  Journal journal = Journal::Open(path, "boot").value();
  journal.Put(kKey, {1, 4, 4, std::nullopt, true});
  journal.Put({"vm.swappiness", std::nullopt}, {60, std::nullopt, std::nullopt, 45, false});
  ASSERT_TRUE(journal.Save().ok());
  const Journal again = Journal::Open(path, "boot").value();
  EXPECT_EQ(again.entries(), journal.entries());
  EXPECT_EQ(again.damage(), "");
}

TEST(JournalTest, OfAnotherBootIsNotUsed) {
  FakeHost host;
  const std::string path = host.StateDir() + "/journal.json";
  Journal journal = Journal::Open(path, "boot").value();
  journal.Put(kKey, {});
  ASSERT_TRUE(journal.Save().ok());
  EXPECT_TRUE(Journal::Open(path, "other").value().entries().empty());
}

TEST(JournalTest, ADamagedOneIsKeptAside) {
  for (
      const char* text :
      {"", "{", "[]", "{\"format\":2}", "{\"format\":1,\"bootId\":7}",
       "{\"format\":1,\"bootId\":\"b\",\"settings\":[{\"name\":1}]}",
       "{\"format\":1,\"bootId\":\"b\",\"settings\":{\"a\":1}}", "{\"format\":2.22e21}",
       "{\"format\":1.5}", "{\"format\":18446744073709551617}",
       R"({"format":1,"bootId":"b","settings":[{"name":"n","restore":true,"original":9223372036854775808}]})"}) {
    FakeHost host;
    host.Put("state/journal.json", text);
    const Journal journal = Journal::Open(host.StateDir() + "/journal.json", "b").value();
    EXPECT_TRUE(journal.entries().empty()) << text;
    EXPECT_THAT(journal.damage(), testing::HasSubstr("journal.json.corrupt")) << text;
    EXPECT_EQ(host.Get("state/journal.json.corrupt"), text);
  }
}

TEST(JournalTest, EachDamagedOneIsKept) {
  FakeHost host;
  const std::string path = host.StateDir() + "/journal.json";
  for (const char* text : {"first", "second", "third"}) {
    host.Put("state/journal.json", text);
    ASSERT_TRUE(Journal::Open(path, "b").ok());
  }
  EXPECT_EQ(host.Get("state/journal.json.corrupt"), "first");
  EXPECT_EQ(host.Get("state/journal.json.corrupt2"), "second");
  EXPECT_EQ(host.Get("state/journal.json.corrupt3"), "third");
}

TEST(JournalTest, KnowsForTheRestOfTheBootThatOriginalsWereLost) {
  FakeHost host;
  const std::string path = host.StateDir() + "/journal.json";
  host.Put("state/journal.json", "garbage");
  EXPECT_TRUE(Journal::Open(path, "b").value().originals_lost());
  EXPECT_TRUE(Journal::Open(path, "b").value().originals_lost());
  EXPECT_EQ(Journal::Open(path, "b").value().damage(), "");
  EXPECT_FALSE(Journal::Open(path, "next").value().originals_lost());
}

TEST(JournalTest, AFolderInItsPlaceIsDamageToo) {
  FakeHost host;
  host.Put("state/journal.json/in-the-way", "");
  const auto journal = Journal::Open(host.StateDir() + "/journal.json", "b");
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_THAT(journal->damage(), testing::HasSubstr("journal.json.corrupt"));
}

TEST(JournalTest, KnowsThatTheLastBootEndedInAWrite) {
  FakeHost host;
  const std::string path = host.StateDir() + "/journal.json";
  Journal journal = Journal::Open(path, "boot").value();
  journal.Put(kKey, {1, 4, 4, std::nullopt, true});
  ASSERT_TRUE(journal.Save().ok());
  EXPECT_FALSE(Journal::Open(path, "next").value().interrupted());
  journal.Put(kKey, {1, 4, 4, 8, true});
  ASSERT_TRUE(journal.Save().ok());
  EXPECT_TRUE(Journal::Open(path, "next").value().interrupted());
  EXPECT_FALSE(Journal::Open(path, "boot").value().interrupted());
}

TEST(JournalTest, SaveWritesOnlyChanges) {
  FakeHost host;
  Journal journal = Journal::Open(host.StateDir() + "/journal.json", "boot").value();
  ASSERT_TRUE(journal.Save().ok());
  EXPECT_EQ(host.Get("state/journal.json"), "");
  journal.Put(kKey, {});
  ASSERT_TRUE(journal.Save().ok());
  host.Remove("state/journal.json");
  ASSERT_TRUE(journal.Save().ok());
  EXPECT_EQ(host.Get("state/journal.json"), "");
}

TEST(WriteDurablyTest, LeavesTheOldFileWhenTheNewOneCannotBeWritten) {
  FakeHost host;
  host.Put("state/file", "old");
  host.Put("state/file.new/in-the-way", "");  // a directory where the neighbour should be
  EXPECT_FALSE(WriteDurably(host.StateDir() + "/file", "new").ok());
  EXPECT_EQ(host.Get("state/file"), "old");
}

TEST(WriteDurablyTest, ReplacesALeftOverNeighbour) {
  FakeHost host;
  host.Put("state/file.new", "half of what was to be writ");
  ASSERT_TRUE(WriteDurably(host.StateDir() + "/file", "new").ok());
  EXPECT_EQ(host.Get("state/file"), "new");
  EXPECT_EQ(host.Get("state/file.new"), "");
}

}  // namespace
}  // namespace reclaim::agent
