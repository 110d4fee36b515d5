// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/temp_dir.h"

namespace reclaim::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempDir;

constexpr char kMinimal[] = R"(
current-context: main
contexts: [{name: main, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://api.example:6443"}}]
users: [{name: u, user: {token: t0}}]
)";

class ConfigTest : public ::testing::Test {
 protected:
  // Nothing of the machine's own environment gets in.
  LoadConfigOptions Options() {
    LoadConfigOptions options;
    options.environment = [this](const char* name) -> std::optional<std::string> {
      auto it = environment_.find(name);
      if (it == environment_.end()) return std::nullopt;
      return it->second;
    };
    options.service_account_dir = dir_.Path("serviceaccount");
    return options;
  }

  TempDir dir_;
  std::map<std::string, std::string> environment_;
};

TEST_F(ConfigTest, ExplicitPathIsUsedAlone) {
  environment_["KUBECONFIG"] = dir_.Write("env", "current-context: other");
  LoadConfigOptions options = Options();
  options.kubeconfig_path = dir_.Write("flag", kMinimal);
  const auto config = LoadConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->host, "api.example");
  EXPECT_EQ(config->source, options.kubeconfig_path);
}

TEST_F(ConfigTest, ExplicitPathMustExist) {
  environment_["KUBECONFIG"] = dir_.Write("env", kMinimal);
  LoadConfigOptions options = Options();
  options.kubeconfig_path = dir_.Path("missing");
  EXPECT_THAT(LoadConfig(options).status().message(), HasSubstr("missing: No such file"));
}

TEST_F(ConfigTest, FirstFileOfTheListWinsForEachName) {
  const std::string first = dir_.Write("first", R"(
contexts: [{name: main, context: {cluster: c, user: u, namespace: from-first}}]
clusters: [{name: c, cluster: {server: "https://first"}}]
)");
  const std::string second = dir_.Write("second", R"(
current-context: main
contexts: [{name: main, context: {cluster: other, user: other}}]
clusters: [{name: c, cluster: {server: "https://second"}}]
users: [{name: u, user: {token: from-second}}]
)");
  environment_["KUBECONFIG"] = first + ":" + dir_.Path("missing") + "::" + second;
  const auto config = LoadConfig(Options());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->host, "first");
  EXPECT_EQ(config->port, 443);
  EXPECT_EQ(config->token, "from-second");
  EXPECT_EQ(config->default_namespace, "from-first");
}

TEST_F(ConfigTest, HomeComesBeforeThePodAndAfterTheEnvironment) {
  environment_["HOME"] = dir_.Path("home");
  dir_.Write("home/.kube/config", kMinimal);
  environment_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  environment_["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_EQ(LoadConfig(Options())->host, "api.example");
  environment_["KUBECONFIG"] = dir_.Path("missing");
  EXPECT_EQ(LoadConfig(Options())->host, "10.0.0.1");
}

TEST_F(ConfigTest, InClusterReadsTheServiceAccount) {
  environment_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  environment_["KUBERNETES_SERVICE_PORT"] = "6443";
  dir_.Write("serviceaccount/namespace", "reclaim-system\n");
  const auto config = LoadConfig(Options());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->host, "fd00::1");
  EXPECT_EQ(config->port, 6443);
  EXPECT_TRUE(config->tls);
  EXPECT_EQ(config->token_file, dir_.Path("serviceaccount/token"));
  EXPECT_EQ(config->certificate_authority.path, dir_.Path("serviceaccount/ca.crt"));
  EXPECT_EQ(config->default_namespace, "reclaim-system");
}

TEST_F(ConfigTest, SaysWhereItLookedWhenThereIsNothing) {
  const absl::Status status = LoadConfig(Options()).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("--kubeconfig"), HasSubstr("~/.kube/config"),
                                      HasSubstr("KUBERNETES_SERVICE_HOST")));
  EXPECT_TRUE(absl::IsNotFound(LoadInClusterConfig(Options()).status()));
}

TEST_F(ConfigTest, ABadServicePortIsAnErrorAndNotAnAbsence) {
  environment_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  environment_["KUBERNETES_SERVICE_PORT"] = "https";
  EXPECT_TRUE(absl::IsInvalidArgument(LoadConfig(Options()).status()));
}

}  // namespace
}  // namespace reclaim::kube
