// SPDX-License-Identifier: Apache-2.0
#include "operator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reclaim::op {
namespace {

using testing::HasSubstr;

TEST(ParseOptions, HasDefaultsForAPod) {
  const auto options = ParseOptions({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->kubeconfig, "");
  EXPECT_EQ(options->op.grpc_address, "[::]:8443");
  EXPECT_EQ(options->op.agent_service_account, "reclaim-system:reclaim-node-agent");
}

TEST(ParseOptions, TakesBothForms) {
  const auto options = ParseOptions({"--namespace=ns", "--grpc-address", "127.0.0.1:0",
                                     "--agent-service-account=a:b", "--kubeconfig", "/k=v"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->op.name_space, "ns");
  EXPECT_EQ(options->op.grpc_address, "127.0.0.1:0");
  EXPECT_EQ(options->op.agent_service_account, "a:b");
  EXPECT_EQ(options->kubeconfig, "/k=v");
}

TEST(ParseOptions, RefusesWithASentence) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--colour=red"}, "unknown argument \"--colour=red\""},
      {{"stray"}, "unknown argument \"stray\""},
      {{"--namespace"}, "--namespace needs a value"},
      {{"--namespace="}, "--namespace must not be empty"},
      {{"--agent-service-account=reclaim-node-agent"}, "takes NAMESPACE:NAME"},
      {{"--agent-service-account=:x"}, "takes NAMESPACE:NAME"},
  };
  for (const auto& [arguments, text] : cases) {
    const auto options = ParseOptions(arguments);
    ASSERT_FALSE(options.ok()) << arguments[0];
    EXPECT_THAT(std::string(options.status().message()), HasSubstr(text));
  }
}

TEST(OptionsHelp, NamesEveryFlag) {
  for (const char* flag : {"--kubeconfig", "--namespace", "--grpc-address", "--metrics-address",
                           "--health-address", "--agent-service-account", "--service-name"}) {
    EXPECT_THAT(OptionsHelp(), HasSubstr(flag));
  }
}

}  // namespace
}  // namespace reclaim::op
