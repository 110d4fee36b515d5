// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.h"

#include <map>
#include <string>

#include "common/simulated_clock.h"
#include "common/testing/test_ca.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/temp_dir.h"

namespace reclaim::kube {
namespace {

using ::testing::HasSubstr;

// Files in memory; a missing one cannot be read.
class CredentialsTest : public ::testing::Test {
 protected:
  FileReader Reader() {
    return [this](const std::string& path) -> absl::StatusOr<std::string> {
      ++reads_;
      auto it = files_.find(path);
      if (it == files_.end()) return absl::NotFoundError(path + ": No such file");
      return it->second;
    };
  }

  SimulatedClock clock_;
  std::map<std::string, std::string> files_;
  int reads_ = 0;
};

ClientConfig TokenFile() {
  ClientConfig config;
  config.token_file = "token";
  return config;
}

TEST_F(CredentialsTest, TokenIsTrimmedAndReadAgainTenSecondsBeforeTheMinute) {
  TokenSource source(TokenFile(), clock_, Reader());
  files_["token"] = " one\n";
  EXPECT_EQ(source.Token().value(), "one");
  files_["token"] = "two";
  clock_.Advance(absl::Seconds(49));
  EXPECT_EQ(source.Token().value(), "one");
  EXPECT_EQ(reads_, 1);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(source.Token().value(), "two");
}

TEST_F(CredentialsTest, TokenStaysWhenTheFileIsMissingEmptyOrNoToken) {
  TokenSource source(TokenFile(), clock_, Reader());
  files_["token"] = "one";
  EXPECT_EQ(source.Token().value(), "one");
  for (const char* bad : {"", " \n", "a\r\nHost: evil"}) {
    files_["token"] = bad;
    clock_.Advance(absl::Minutes(1));
    EXPECT_EQ(source.Token().value(), "one");
  }
  files_.erase("token");
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(source.Token().value(), "one");
  EXPECT_EQ(reads_, 5);
}

TEST_F(CredentialsTest, TokenThatWasNeverReadIsAnError) {
  TokenSource source(TokenFile(), clock_, Reader());
  EXPECT_THAT(source.Token().status().message(), HasSubstr("token: No such file"));
  files_["token"] = "";
  EXPECT_THAT(source.Token().status().message(), HasSubstr("empty"));
}

TEST_F(CredentialsTest, UnauthorizedDropsOnlyATokenReadBeforeThatRequest) {
  TokenSource source(TokenFile(), clock_, Reader());
  files_["token"] = "one";
  EXPECT_EQ(source.Token().value(), "one");
  clock_.Advance(absl::Seconds(5));
  const absl::Duration request = clock_.Monotonic();
  files_["token"] = "two";
  source.OnUnauthorized(request);
  EXPECT_EQ(source.Token().value(), "two");
  files_["token"] = "three";
  source.OnUnauthorized(request - absl::Seconds(1));  // the 401 of an older request comes late
  EXPECT_EQ(source.Token().value(), "two");
}

TEST_F(CredentialsTest, FixedTokenNeedsNoFile) {
  ClientConfig config;
  config.token = "fixed";
  TokenSource source(config, clock_, Reader());
  EXPECT_EQ(source.Token().value(), "fixed");
  EXPECT_EQ(reads_, 0);
  EXPECT_EQ(TokenSource(ClientConfig(), clock_, Reader()).Token().value(), "");
}

class TlsSourceTest : public CredentialsTest {
 protected:
  TlsSourceTest() {
    config_.certificate_authority.path = "ca";
    config_.client_certificate.path = "crt";
    config_.client_key.path = "key";
    Put(ca_.Issue("one"));
    files_["ca"] = ca_.pem();
  }

  void Put(const TestIdentity& pair) {
    files_["crt"] = pair.cert_pem;
    files_["key"] = pair.key_pem;
  }

  TestCa ca_;
  ClientConfig config_;
};

TEST_F(TlsSourceTest, GenerationRisesOnlyWhenContentChanges) {
  TlsSource source(config_, clock_, Reader());
  const auto first = source.Material().value();
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(source.Material().value(), first);
  const TestCa other("other CA");
  files_["ca"] = ca_.pem() + other.pem();
  EXPECT_EQ(source.Material().value(), first);  // not read again yet
  clock_.Advance(absl::Minutes(1));
  const auto second = source.Material().value();
  EXPECT_EQ(second->ca_pem, files_["ca"]);
  EXPECT_GT(second->generation, first->generation);
}

TEST_F(TlsSourceTest, ARotationSeenHalfWayKeepsTheOldPair) {
  TlsSource source(config_, clock_, Reader());
  const auto first = source.Material().value();
  const TestIdentity next = ca_.Issue("two");
  files_["crt"] = next.cert_pem;
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(source.Material().value(), first);
  files_["key"] = next.key_pem;
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(source.Material().value()->key_pem, next.key_pem);
}

TEST_F(TlsSourceTest, BrokenFilesKeepTheOldOnesAndFailOnlyAtFirst) {
  TlsSource source(config_, clock_, Reader());
  ASSERT_TRUE(source.Material().ok());
  for (const char* bad : {"", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    files_["crt"] = bad;
    clock_.Advance(absl::Minutes(1));
    EXPECT_TRUE(source.Material().ok());
    EXPECT_FALSE(TlsSource(config_, clock_, Reader()).Material().ok()) << bad;
  }
  files_.erase("ca");
  EXPECT_THAT(TlsSource(config_, clock_, Reader()).Material().status().message(),
              HasSubstr("ca: No such file"));
}

TEST(ReadFileTest, SaysWhatIsWrongWithTheFile) {
  const testing::TempDir dir;
  EXPECT_EQ(ReadFile(dir.Write("a", std::string("x\0y", 3))).value(), std::string("x\0y", 3));
  EXPECT_EQ(ReadFile(dir.Write("empty", "")).value(), "");
  EXPECT_TRUE(absl::IsNotFound(ReadFile(dir.Path("missing")).status()));
  EXPECT_THAT(ReadFile(dir.Path("")).status().message(), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace reclaim::kube
