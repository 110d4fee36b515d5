// SPDX-License-Identifier: Apache-2.0
#include "node-agent/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::agent {
namespace {

using testing::HasSubstr;

absl::StatusOr<AgentOptions> Parse(const std::vector<absl::string_view>& arguments) {
  return ParseAgentOptions(arguments);
}

TEST(ParseAgentOptionsTest, TakesBothForms) {
  const AgentOptions options =
      Parse({"--policy=a.yaml", "--host-node", "/host/node", "--tick", "250ms"}).value();
  EXPECT_EQ(options.policy, "a.yaml");
  EXPECT_EQ(options.host.node, "/host/node");
  EXPECT_EQ(options.host.proc, "/proc");
  EXPECT_EQ(options.tick, absl::Milliseconds(250));
}

TEST(ParseAgentOptionsTest, NamesTheOptionThatIsWrong) {
  const std::pair<std::vector<absl::string_view>, const char*> cases[] = {
      {{}, "exactly one of --policy FILE"},
      {{"--policy", "a", "--operator-address", "b:1"}, "exactly one of --policy FILE"},
      {{"--polcy", "a"}, "--polcy: there is no such option"},
      {{"--policy"}, "its value is missing"},
      {{"policy"}, "\"policy\" is not an option"},
      {{"--policy", "a", "--tick", "5"}, "--tick: "},
      {{"--policy", "a", "--tick", "1ms"}, "--tick must be between"},
      {{"--policy", "a", "--help=yes"}, "--help takes no value"},
      {{"--check", "--operator-address", "b:1"}, "--check needs --policy"},
  };
  for (const auto& [arguments, error] : cases) {
    EXPECT_THAT(std::string(ParseAgentOptions(arguments).status().message()), HasSubstr(error));
  }
}

TEST(ParseAgentOptionsTest, HelpNeedsNothingElse) {
  EXPECT_TRUE(Parse({"--help"})->help);
  EXPECT_TRUE(Parse({"--version"})->version);
}

TEST(AgentHelpTest, NamesEveryOptionOfTheChart) {
  const std::string help = AgentHelp();
  for (const char* option :
       {"--host-proc ", "--host-proc-sys-vm ", "--host-node ", "--host-sys ", "--host-cgroup ",
        "--state-dir ", "--operator-address ", "--operator-ca ", "--token-file ",
        "--metrics-address ", "--health-address ", "--policy ", "--tick "}) {
    EXPECT_THAT(help, HasSubstr(option));
  }
}

}  // namespace
}  // namespace reclaim::agent
