// SPDX-License-Identifier: Apache-2.0
#include "kube/kubeconfig.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPath[] = "/etc/kube/config";

std::string Kubeconfig(absl::string_view cluster, absl::string_view user) {
  return absl::StrCat("current-context: main\n",
                      "contexts: [{name: main, context: {cluster: c, user: u}}]\n",
                      "clusters: [{name: c, cluster: {", cluster, "}}]\n",
                      "users: [{name: u, user: {", user, "}}]\n");
}

TEST(KubeconfigTest, ReadsEveryFieldThatItKnows) {
  const auto config = ParseKubeconfig(
      Kubeconfig("server: 'https://[fd00::1]:6443/prefix/', tls-server-name: kubernetes,"
                 "certificate-authority: pki/ca.crt, disable-compression: true",
                 "client-certificate: /abs/client.crt, client-key-data: a2V5,"
                 "tokenFile: ../token, as: root, as-uid: '7', as-groups: [a, b],"
                 "username: me, password: pw"),
      kPath);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->tls);
  EXPECT_EQ(config->host, "fd00::1");
  EXPECT_EQ(config->port, 6443);
  EXPECT_EQ(config->path_prefix, "/prefix");
  EXPECT_EQ(config->tls_server_name, "kubernetes");
  EXPECT_EQ(config->certificate_authority.path, "/etc/kube/pki/ca.crt");
  EXPECT_EQ(config->client_certificate.path, "/abs/client.crt");
  EXPECT_EQ(config->client_key.data, "key");
  EXPECT_EQ(config->token_file, "/etc/token");
  EXPECT_EQ(config->impersonate_user, "root");
  EXPECT_EQ(config->impersonate_uid, "7");
  EXPECT_THAT(config->impersonate_groups, ElementsAre("a", "b"));
  EXPECT_EQ(config->username, "me");
  EXPECT_EQ(config->password, "pw");
}

TEST(KubeconfigTest, DataBeatsTheFile) {
  const auto config =
      ParseKubeconfig(Kubeconfig("server: 'https://x', certificate-authority: ca.crt,"
                                 "certificate-authority-data: Y2E=",
                                 "token: t"),
                      kPath);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->certificate_authority.data, "ca");
  EXPECT_EQ(config->certificate_authority.path, "");
}

TEST(KubeconfigTest, NamesFileAndFieldOfWhatIsWrong) {
  const struct {
    const char* cluster;
    const char* user;
    const char* field;
    const char* says;
  } kCases[] = {
      {"", "", "clusters[\"c\"].server", "must begin with https://"},
      {"server: 'api:6443'", "", "clusters[\"c\"].server", "must begin with https://"},
      {"server: 'https://'", "", "clusters[\"c\"].server", "no usable host"},
      {"server: 'https://a:b'", "", "clusters[\"c\"].server", "no usable port"},
      {"server: 'https://a:70000'", "", "clusters[\"c\"].server", "no usable port"},
      {"server: 'https://[::1'", "", "clusters[\"c\"].server", "without ']'"},
      {"server: 'https://u@a'", "", "clusters[\"c\"].server", "no usable host"},
      {"server: 'https://a/?x=1'", "", "clusters[\"c\"].server", "query"},
      {"server: [1]", "", "clusters[\"c\"].server", "must be text"},
      {"server: 'https://a', proxy-url: 'http://p'", "", "clusters[\"c\"].proxy-url",
       "not supported"},
      {"server: 'https://a', certificate-authority-data: '*'", "",
       "clusters[\"c\"].certificate-authority-data", "must be base64"},
      {"server: 'https://a', insecure-skip-tls-verify: maybe", "",
       "clusters[\"c\"].insecure-skip-tls-verify", "must be true or false"},
      {"server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: ca", "",
       "clusters[\"c\"].insecure-skip-tls-verify", "remove one of them"},
      {"server: 'https://a'", "exec: {command: aws}", "users[\"u\"].exec",
       "credential plugins are not supported"},
      {"server: 'https://a'", "auth-provider: {name: gcp}", "users[\"u\"].auth-provider",
       "removed auth providers in 1.26"},
      {"server: 'https://a'", "client-certificate: a.crt", "users[\"u\"].client-key", "missing"},
      {"server: 'https://a'", "client-key: a.key", "users[\"u\"].client-certificate", "missing"},
      {"server: 'https://a'", "token: {a: 1}", "users[\"u\"].token", "must be text"},
      {"server: 'https://a'", "token: \"t\\r\\nX: y\"", "users[\"u\"].token", "control characters"},
      {"server: 'https://a'", "as-groups: [\"a\\nb\"]", "users[\"u\"].as-groups",
       "control characters"},
      {"server: 'https://a'", "as-groups: a", "users[\"u\"].as-groups", "must be a list"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = ParseKubeconfig(Kubeconfig(c.cluster, c.user), kPath).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.cluster << " " << c.user;
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith(absl::StrCat(kPath, ": ", c.field, ": ")), HasSubstr(c.says)));
  }
}

TEST(KubeconfigTest, NamesWhatAContextPointsToInVain) {
  const std::string good = Kubeconfig("server: 'https://a'", "token: t");
  const struct {
    std::string text;
    const char* context;
    const char* says;
  } kCases[] = {
      {"", "", "current-context is not set"},
      {"apiVersion: v1", "", "current-context is not set"},
      {good, "other", "no context \"other\""},
      {absl::StrReplaceAll(good, {{"name: c,", "name: x,"}}), "",
       "contexts[\"main\"].cluster: no cluster \"c\""},
      {absl::StrReplaceAll(good, {{"name: u,", "name: x,"}}), "",
       "contexts[\"main\"].user: no user \"u\""},
      {"clusters: 5", "", "clusters: must be a list"},
      {"clusters: [{cluster: {}}]", "", "an entry without a name"},
      {"users: [{name: u, user: 5}]", "", "users[\"u\"].user: must be a map"},
      {"[]", "", "not a kubeconfig"},
      {"a: [", "", kPath},
  };
  for (const auto& c : kCases) {
    const absl::Status status = ParseKubeconfig(c.text, kPath, c.context).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.text;
    EXPECT_THAT(status.message(), HasSubstr(c.says));
  }
}

TEST(KubeconfigTest, PlainHttpHasItsOwnDefaultPort) {
  const auto config = ParseKubeconfig(Kubeconfig("server: 'http://127.0.0.1'", ""), kPath);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->tls);
  EXPECT_EQ(config->port, 80);
}

// Cuts, doubled parts and random bytes: an answer or a status, never a crash or an exception.
TEST(KubeconfigTest, SurvivesDamagedFiles) {
  const std::string good = Kubeconfig("server: 'https://a:1', certificate-authority-data: Y2E=",
                                      "as-groups: [a], token: t");
  std::mt19937 random(20261130);  // fixed: a failure can be repeated
  int parsed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.resize(at + 1);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
        default:
          text.insert(at, 1, "{}[]:,'\"&*!|>%@`-#\n"[random() % 19]);
      }
    }
    const auto config = ParseKubeconfig(text, kPath);
    parsed += config.ok() ? 1 : 0;
    if (!config.ok()) {
      ASSERT_THAT(config.status().message(), HasSubstr(kPath)) << text;
    }
  }
  EXPECT_GT(parsed, 0);
  EXPECT_LT(parsed, 3000);
}

TEST(KubeconfigTest, DeepNestingIsAnErrorAndNotAStackOverflow) {
  EXPECT_FALSE(ParseKubeconfig(std::string(100'000, '['), kPath).ok());
}

}  // namespace
}  // namespace reclaim::kube
