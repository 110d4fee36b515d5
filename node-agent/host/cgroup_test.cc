// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/host/cgroup_glob.h"
#include "node-agent/host/reclaim.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MatchesComponentTest, Table) {
  EXPECT_TRUE(MatchesComponent("*", "anything"));
  EXPECT_TRUE(MatchesComponent("*", ""));
  EXPECT_TRUE(MatchesComponent("a*c", "abbc"));
  EXPECT_TRUE(MatchesComponent("a**c", "ac"));
  EXPECT_TRUE(MatchesComponent("*.slice", "x.slice.slice"));
  EXPECT_TRUE(MatchesComponent("x-*-y", "x--y"));
  EXPECT_FALSE(MatchesComponent("x-*-y", "x-y"));
  EXPECT_FALSE(MatchesComponent("a*c", "abcd"));
  EXPECT_FALSE(MatchesComponent("", "a"));
  EXPECT_FALSE(MatchesComponent("?", "a"));
  // Would take for ever with plain backtracking.
  EXPECT_FALSE(MatchesComponent("*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

class CgroupTest : public testing::Test {
 protected:
  CgroupTest() {
    for (const char* cgroup : {"kubepods/x-1/c", "kubepods/x-2", "kubepods/y", "system.slice"}) {
      host_.Put(std::string("sys/fs/cgroup/") + cgroup + "/memory.reclaim", "");
    }
  }
  std::vector<std::string> Expand(absl::string_view pattern, size_t limit = 100) {
    return ExpandCgroups(files_, pattern, limit).value();
  }
  FakeHost host_;
  HostFiles files_{host_.Paths()};
};

TEST_F(CgroupTest, ExpandsComponentByComponent) {
  EXPECT_THAT(Expand("/kubepods/x-*"), ElementsAre("/kubepods/x-1", "/kubepods/x-2"));
  EXPECT_THAT(Expand("/*"), ElementsAre("/kubepods", "/system.slice"));
  EXPECT_THAT(Expand("/kubepods/*/c"), ElementsAre("/kubepods/x-1/c"));
  EXPECT_THAT(Expand("/"), ElementsAre("/"));
  EXPECT_THAT(Expand("/nothing/*"), IsEmpty());
}

TEST_F(CgroupTest, NeverLeavesTheRoot) {
  EXPECT_TRUE(absl::IsInvalidArgument(ExpandCgroups(files_, "/../etc", 10).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ExpandCgroups(files_, "/kubepods/./y", 10).status()));
  std::filesystem::create_directory_symlink("/etc", host_.root() + "/sys/fs/cgroup/link");
  EXPECT_THAT(Expand("/link"), IsEmpty());
  EXPECT_THAT(Expand("/li*"), IsEmpty());
}

TEST_F(CgroupTest, RefusesMoreThanTheLimitInsteadOfTakingSome) {
  EXPECT_TRUE(absl::IsResourceExhausted(ExpandCgroups(files_, "/kubepods/*", 2).status()));
}

TEST_F(CgroupTest, MeasuresWhatWasReclaimedAlsoOnEagain) {
  ScriptedWriter writer;
  host_.Put("sys/fs/cgroup/system.slice/memory.stat", "anon 0\npgsteal_proactive 100\n");
  writer.Answer("/sys/fs/cgroup/system.slice/memory.reclaim", [this](absl::string_view) {
    host_.Put("sys/fs/cgroup/system.slice/memory.stat", "anon 0\npgsteal_proactive 107\n");
    return EAGAIN;
  });
  const ReclaimOutcome outcome =
      ReclaimFrom(files_, writer, {std::nullopt, "/system.slice"}, 1 << 20, "max");
  EXPECT_EQ(outcome.error, EAGAIN);
  EXPECT_EQ(outcome.reclaimed_bytes, 7 * PageBytes());
  EXPECT_THAT(writer.writes(),
              ElementsAre("/sys/fs/cgroup/system.slice/memory.reclaim=1048576 swappiness=max"));
}

TEST_F(CgroupTest, MeasuresByMemoryCurrentOnAnOlderKernel) {
  ScriptedWriter writer;
  host_.Put("sys/fs/cgroup/system.slice/memory.stat", "anon 0\n");
  host_.Put("sys/fs/cgroup/system.slice/memory.current", "5000000\n");
  writer.Answer("/sys/fs/cgroup/system.slice/memory.reclaim", [this](absl::string_view) {
    host_.Put("sys/fs/cgroup/system.slice/memory.current", "4000000\n");
    return 0;
  });
  EXPECT_EQ(
      ReclaimFrom(files_, writer, {std::nullopt, "/system.slice"}, 1 << 20, "").reclaimed_bytes,
      1000000);
}

TEST_F(CgroupTest, MeasuresANumaNodeByItsOwnCounter) {
  ScriptedWriter writer;
  host_.Put("sys/devices/system/node/node1/vmstat", "pgsteal_proactive 1\n");
  writer.Answer("/sys/devices/system/node/node1/reclaim", [this](absl::string_view) {
    host_.Put("sys/devices/system/node/node1/vmstat", "pgsteal_proactive 33\n");
    return 0;
  });
  const ReclaimOutcome outcome = ReclaimFrom(files_, writer, {1, ""}, 131072, "0");
  EXPECT_EQ(outcome.error, 0);
  EXPECT_EQ(outcome.reclaimed_bytes, 32 * PageBytes());
}

TEST_F(CgroupTest, SaysNothingOfWhatTheKernelDoesNotCount) {
  ScriptedWriter writer;
  writer.Answer("/sys/devices/system/node/node0/reclaim", [](absl::string_view) { return 0; });
  EXPECT_EQ(ReclaimFrom(files_, writer, {0, ""}, 131072, "").reclaimed_bytes, std::nullopt);
}

}  // namespace
}  // namespace reclaim::agent
