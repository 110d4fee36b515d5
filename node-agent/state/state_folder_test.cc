// SPDX-License-Identifier: Apache-2.0
#include "node-agent/state/state_folder.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using testing::HasSubstr;

TEST(StateFolderTest, IsHeldByOneAtATime) {
  FakeHost host;
  std::optional<absl::StatusOr<StateFolder>> first = StateFolder::Hold(host.StateDir());
  ASSERT_TRUE(first->ok()) << first->status();
  const auto second = StateFolder::Hold(host.StateDir());
  ASSERT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(host.StateDir()));
  first.reset();
  EXPECT_TRUE(StateFolder::Hold(host.StateDir()).ok());
}

TEST(StateFolderTest, IsMadeWhenItsParentIsThere) {
  FakeHost host;
  const std::string fresh = host.StateDir() + "/fresh";
  EXPECT_TRUE(StateFolder::Hold(fresh).ok());
  EXPECT_TRUE(StateFolder::Hold(fresh).ok());
  EXPECT_THAT(std::string(StateFolder::Hold(fresh + "/a/b").status().message()),
              HasSubstr("create the folder " + fresh + "/a/b"));
}

TEST(StateFolderTest, IsNoFile) {
  FakeHost host;
  host.Put("state/file", "");
  EXPECT_THAT(std::string(StateFolder::Hold(host.StateDir() + "/file").status().message()),
              HasSubstr("open the folder"));
}

}  // namespace
}  // namespace reclaim::agent
