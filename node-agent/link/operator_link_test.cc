// SPDX-License-Identifier: Apache-2.0
// The link against a real gRPC server over real TLS on loopback.
#include "node-agent/link/operator_link.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/link/reconnect_delay.h"
#include "node-agent/testing/fake_host.h"
#include "node-agent/testing/test_operator.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using kswapd::v1alpha1::NodeSpec;
using testing::ElementsAre;
using testing::HasSubstr;

std::string SpecWithSwappiness(int swappiness) {
  NodeSpec spec;
  spec.mutable_policy()->set_name("p");
  spec.mutable_spec()->mutable_vm()->set_swappiness(swappiness);
  return spec.SerializeAsString();
}

NodeReclaimStatus StatusWithSettings(int count) {
  NodeReclaimStatus status;
  for (int i = 0; i < count; ++i) status.add_settings()->set_name("vm.swappiness");
  return status;
}

class OperatorLinkTest : public testing::Test {
 protected:
  OperatorLinkTest() {
    state_.Put("ca.crt", ca_.pem());
    state_.Put("token", "secret\n");
  }
  ~OperatorLinkTest() override {
    if (link_ != nullptr) link_->Stop();
  }

  // Applies every spec at once, as the tick would: the status has as many settings as there are
  // specs.
  void StartLink(const std::string& address, const std::string& server_name = "") {
    link_ = std::make_unique<OperatorLink>(
        OperatorLink::Options{.address = address,
                              .server_name = server_name,
                              .ca_file = state_.root() + "/ca.crt",
                              .token_file = state_.root() + "/token",
                              .agent_version = "1",
                              .node_name = "node1",
                              .delay = [](int) { return absl::Milliseconds(20); }},
        clock_);
    link_->Start([this](const SpecUpdate& update) {
      int count;
      {
        absl::MutexLock lock(&mutex_);
        specs_.push_back(update);
        count = static_cast<int>(specs_.size());
      }
      link_->SetStatus(StatusWithSettings(count), update.version);
    });
  }

  LinkStats WaitForStats(const char* what, const std::function<bool(const LinkStats&)>& holds) {
    const bool held = link_->AwaitStatsForTest(holds, absl::Seconds(60));
    LinkStats stats = link_->Stats();
    EXPECT_TRUE(held) << "waited for " << what << "; connected=" << stats.connected
                      << " connects=" << stats.connects_total;
    return stats;
  }
  std::vector<SpecUpdate> specs() {
    absl::MutexLock lock(&mutex_);
    return specs_;
  }

  const TestCa ca_;
  const TestIdentity identity_ = ca_.Issue("operator", "DNS:operator.test,IP:127.0.0.1");
  FakeHost state_;
  SystemClock clock_;
  absl::Mutex mutex_;
  std::vector<SpecUpdate> specs_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<OperatorLink> link_;
};

TEST_F(OperatorLinkTest, AcksASpecOnceItIsAppliedAndThenSendsTheStatus) {
  TestOperator op(identity_);
  StartLink(op.address());
  op.Push("v1", "n1", SpecWithSwappiness(45));
  EXPECT_THAT(op.WaitForReceived(3), ElementsAre("hello node1 ", "ack v1 n1", "status 1"));
  EXPECT_THAT(op.tokens(), ElementsAre("Bearer secret"));
  ASSERT_EQ(specs().size(), 1u);
  EXPECT_EQ(specs()[0].spec.spec().vm().swappiness(), 45);
  const LinkStats stats = WaitForStats("the status to be counted",
                                       [](const LinkStats& s) { return s.statuses_total == 1; });
  EXPECT_TRUE(stats.connected);
  EXPECT_EQ(stats.accepted_total, 1u);
}

TEST_F(OperatorLinkTest, RefusesASpecThatItCannotRunAndGoesOn) {
  TestOperator op(identity_);
  StartLink(op.address());
  op.Push("bad", "n1", "\xff\xff\xff");
  op.Push("worse", "n2", SpecWithSwappiness(500));
  op.Push("good", "n3", SpecWithSwappiness(45));
  const std::vector<std::string> received = op.WaitForReceived(5);
  ASSERT_EQ(received.size(), 5u);
  EXPECT_THAT(received[1], HasSubstr("nack bad n1: "));
  EXPECT_THAT(received[2], HasSubstr("nack worse n2: spec.vm.swappiness"));
  EXPECT_EQ(received[3], "ack good n3");
  EXPECT_EQ(specs().size(), 1u);
  EXPECT_EQ(link_->Stats().refused_total, 2u);
}

TEST_F(OperatorLinkTest, SendsAStatusOnlyWhenItChanges) {
  TestOperator op(identity_);
  StartLink(op.address());
  op.Push("v1", "n1", SpecWithSwappiness(45));
  op.WaitForReceived(3);
  for (int i = 0; i < 10; ++i) link_->SetStatus(StatusWithSettings(1), "v1");
  link_->SetStatus(StatusWithSettings(2), "v1");
  EXPECT_THAT(op.WaitForReceived(4),
              ElementsAre("hello node1 ", "ack v1 n1", "status 1", "status 2"));
}

TEST_F(OperatorLinkTest, ComesAgainWithTheAppliedVersionAndItsStatus) {
  TestOperator op(identity_);
  StartLink(op.address());
  op.Push("v1", "n1", SpecWithSwappiness(45));
  op.WaitForReceived(3);
  op.EndStream();
  EXPECT_THAT(op.WaitForReceived(5),
              ElementsAre("hello node1 ", "ack v1 n1", "status 1", "hello node1 v1", "status 1"));
  const LinkStats stats = WaitForStats("the second connect", [](const LinkStats& s) {
    return s.connects_total == 2 && s.connected;
  });
  EXPECT_EQ(stats.ends_total.at("CANCELLED"), 1u);
}

TEST_F(OperatorLinkTest, SurvivesARestartOfTheOperator) {
  auto op = std::make_unique<TestOperator>(identity_);
  const int port = op->port();
  StartLink(op->address());
  op->Push("v1", "n1", SpecWithSwappiness(45));
  op->WaitForReceived(3);
  op.reset();
  WaitForStats("a failed try", [](const LinkStats& s) {
    return !s.connected && s.ends_total.contains("UNAVAILABLE");
  });
  TestOperator again(identity_, port);
  again.WaitForReceived(2);
  again.Push("v2", "n1", SpecWithSwappiness(46));
  EXPECT_THAT(again.WaitForReceived(4),
              ElementsAre("hello node1 v1", "status 1", "ack v2 n1", "status 2"));
}

TEST_F(OperatorLinkTest, ReadsTheTokenAnewForEachConnection) {
  TestOperator op(identity_);
  op.RequireToken("renewed");
  StartLink(op.address());
  WaitForStats("a refused token",
               [](const LinkStats& s) { return s.ends_total.contains("UNAUTHENTICATED"); });
  EXPECT_EQ(link_->Stats().connects_total, 0u);
  state_.Put("token", "renewed");
  WaitForStats("the stream", [](const LinkStats& s) { return s.connected; });
}

TEST_F(OperatorLinkTest, ReadsTheCaAnewForEachConnection) {
  TestOperator op(identity_);
  state_.Put("ca.crt", TestCa("other CA").pem());
  StartLink(op.address());
  WaitForStats("a refused certificate",
               [](const LinkStats& s) { return s.ends_total.contains("UNAVAILABLE"); });
  EXPECT_THAT(op.tokens(), testing::IsEmpty());  // no token to whom is not trusted
  state_.Put("ca.crt", ca_.pem());
  WaitForStats("the stream", [](const LinkStats& s) { return s.connected; });
}

TEST_F(OperatorLinkTest, ChecksTheNameInTheCertificate) {
  TestOperator op(identity_);
  StartLink(op.address(), "someone-else.test");
  WaitForStats("a refused certificate",
               [](const LinkStats& s) { return s.ends_total.contains("UNAVAILABLE"); });
  EXPECT_THAT(op.tokens(), testing::IsEmpty());
  link_->Stop();
  StartLink(op.address(), "operator.test");
  WaitForStats("the stream", [](const LinkStats& s) { return s.connected; });
}

TEST_F(OperatorLinkTest, NeverSpeaksPlainText) {
  TestOperator op(identity_, 0, /*tls=*/false);
  StartLink(op.address());
  WaitForStats("a failed try",
               [](const LinkStats& s) { return s.ends_total.contains("UNAVAILABLE"); });
  EXPECT_THAT(op.tokens(), testing::IsEmpty());
}

TEST_F(OperatorLinkTest, WaitsForItsCredentials) {
  TestOperator op(identity_);
  state_.Remove("token");
  StartLink(op.address());
  WaitForStats("a try without token",
               [](const LinkStats& s) { return s.ends_total.contains("NO_CREDENTIALS"); });
  state_.Put("token", "secret");
  WaitForStats("the stream", [](const LinkStats& s) { return s.connected; });
}

TEST_F(OperatorLinkTest, StopsWhileConnectedAndWhileWaiting) {
  TestOperator op(identity_);
  StartLink(op.address());
  WaitForStats("the stream", [](const LinkStats& s) { return s.connected; });
  link_->Stop();
  EXPECT_FALSE(link_->Stats().connected);
  // Nobody there: it stops between tries.
  StartLink("127.0.0.1:1");
  WaitForStats("a failed try",
               [](const LinkStats& s) { return s.ends_total.contains("UNAVAILABLE"); });
  link_->Stop();
}

TEST(OperatorCredentialsTest, NamesTheFileAndNeverItsContent) {
  FakeHost state;
  const std::string ca = state.root() + "/ca.crt";
  const std::string token = state.root() + "/token";
  EXPECT_THAT(std::string(ReadOperatorCredentials(ca, token).status().message()), HasSubstr(ca));
  state.Put("ca.crt", "not a certificate");
  EXPECT_THAT(std::string(ReadOperatorCredentials(ca, token).status().message()),
              HasSubstr("holds no certificate"));
  state.Put("ca.crt", TestCa("other CA").pem());
  for (const char* bad : {"", "\n", "two words", "line\nline"}) {
    state.Put("token", bad);
    EXPECT_EQ(ReadOperatorCredentials(ca, token).status().message(),
              absl::StrCat(token, ": holds no token"));
  }
  state.Put("token", "  good\n");
  EXPECT_EQ(ReadOperatorCredentials(ca, token)->token, "good");
}

TEST(ReconnectDelayTest, Table) {
  EXPECT_EQ(ReconnectDelay(0, 0.0), absl::ZeroDuration());
  EXPECT_EQ(ReconnectDelay(0, 0.5), absl::Milliseconds(2500));
  EXPECT_EQ(ReconnectDelay(1, 0.0), absl::Milliseconds(500));
  EXPECT_EQ(ReconnectDelay(1, 0.5), absl::Seconds(1));
  EXPECT_EQ(ReconnectDelay(4, 0.5), absl::Seconds(8));
  EXPECT_EQ(ReconnectDelay(7, 0.5), absl::Seconds(60));
  EXPECT_EQ(ReconnectDelay(1'000'000, 0.5), absl::Seconds(60));
}

}  // namespace
}  // namespace reclaim::agent
