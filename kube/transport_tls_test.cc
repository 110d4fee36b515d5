// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "common/simulated_clock.h"
#include "common/testing/test_ca.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"
#include "kube/testing/temp_dir.h"
#include "kube/transport.h"

namespace reclaim::kube {
namespace {

using ::testing::AnyOf;
using testing::FakeApiServer;
using testing::FakeReply;
using testing::FakeRequest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

constexpr char kName[] = "IP:127.0.0.1";

void RespondOk(const FakeRequest&, FakeReply& reply) { reply.Respond(200, "{}"); }

class TransportTlsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Transport> New(const ClientConfig& config) {
    absl::StatusOr<std::unique_ptr<Transport>> transport = NewTransport(config, clock_);
    EXPECT_TRUE(transport.ok()) << transport.status();
    return *std::move(transport);
  }

  absl::Status Get(Transport& transport) {
    HttpRequest request;
    request.path = "/api";
    return transport.Request(request).status();
  }

  SimulatedClock clock_;
  TestCa ca_;
};

TEST_F(TransportTlsTest, TrustsTheConfiguredAuthorityAndReusesTheConnection) {
  FakeApiServer server(RespondOk, {{ca_.Issue("server", kName)}});
  const auto transport = New(server.Config(ca_.pem()));
  EXPECT_EQ(Get(*transport), absl::OkStatus());
  EXPECT_EQ(Get(*transport), absl::OkStatus());
  EXPECT_EQ(server.requests().back().connection, 1);
}

TEST_F(TransportTlsTest, SendsNothingToAServerOfAnotherAuthority) {
  const TestCa other("other CA");
  FakeApiServer server(RespondOk, {{other.Issue("server", kName)}});
  ClientConfig config = server.Config(ca_.pem());
  config.token = "s3cret";
  const absl::Status status = Get(*New(config));
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("unable to get local issuer certificate"));
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(TransportTlsTest, SendsNothingToAServerOfAnotherName) {
  FakeApiServer server(RespondOk, {{ca_.Issue("127.0.0.1", "IP:127.0.0.2,DNS:127.0.0.1.example")}});
  const absl::Status status = Get(*New(server.Config(ca_.pem())));
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(status.message(), AnyOf(HasSubstr("IP address mismatch"), HasSubstr("mismatch")));
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(TransportTlsTest, ServerNameOfTheConfigurationReplacesTheHost) {
  FakeApiServer server(RespondOk, {{ca_.Issue("server", "DNS:kubernetes.default.svc")}});
  ClientConfig config = server.Config(ca_.pem());
  config.host = "localhost";
  config.tls_server_name = "kubernetes.default.svc";
  EXPECT_EQ(Get(*New(config)), absl::OkStatus());
  config.tls_server_name = "kubernetes.default";
  EXPECT_TRUE(absl::IsUnauthenticated(Get(*New(config))));
}

TEST_F(TransportTlsTest, InsecureTakesAnyServer) {
  const TestCa other("other CA");
  FakeApiServer server(RespondOk, {{other.Issue("server", "DNS:elsewhere")}});
  ClientConfig config = server.Config();
  config.insecure_skip_tls_verify = true;
  EXPECT_EQ(Get(*New(config)), absl::OkStatus());
}

TEST_F(TransportTlsTest, ShowsItsClientCertificate) {
  FakeApiServer server(RespondOk, {{ca_.Issue("server", kName), ca_.pem()}});
  ClientConfig config = server.Config(ca_.pem());
  EXPECT_FALSE(Get(*New(config)).ok());
  const TestIdentity identity = ca_.Issue("operator");
  config.client_certificate.data = identity.cert_pem;
  config.client_key.data = identity.key_pem;
  EXPECT_EQ(Get(*New(config)), absl::OkStatus());
  EXPECT_EQ(server.requests().back().client_name, "operator");
}

TEST_F(TransportTlsTest, ANewAuthorityOnDiskIsTrustedWithoutARestart) {
  const TempDir dir;
  const TestCa next("next CA");
  FakeApiServer server(RespondOk, {{ca_.Issue("server", kName)}});
  ClientConfig config = server.Config();
  config.certificate_authority.path = dir.Write("ca.crt", ca_.pem());
  const auto transport = New(config);
  EXPECT_EQ(Get(*transport), absl::OkStatus());

  server.SetIdentity(next.Issue("server", kName));
  server.CloseConnections();
  EXPECT_TRUE(absl::IsUnauthenticated(Get(*transport)));
  dir.Write("ca.crt", next.pem());
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(Get(*transport), absl::OkStatus());
}

TEST_F(TransportTlsTest, ANewClientCertificateMeansANewConnection) {
  const TempDir dir;
  FakeApiServer server(RespondOk, {{ca_.Issue("server", kName), ca_.pem()}});
  const TestIdentity one = ca_.Issue("one");
  ClientConfig config = server.Config(ca_.pem());
  config.client_certificate.path = dir.Write("tls.crt", one.cert_pem);
  config.client_key.path = dir.Write("tls.key", one.key_pem);
  const auto transport = New(config);
  EXPECT_EQ(Get(*transport), absl::OkStatus());

  const TestIdentity two = ca_.Issue("two");
  dir.Write("tls.crt", two.cert_pem);
  dir.Write("tls.key", two.key_pem);
  clock_.Advance(absl::Seconds(59));
  EXPECT_EQ(Get(*transport), absl::OkStatus());
  EXPECT_EQ(server.requests().back().client_name, "one");
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Get(*transport), absl::OkStatus());
  EXPECT_EQ(server.requests().back().client_name, "two");
  EXPECT_EQ(server.requests().back().connection, 2);
}

TEST_F(TransportTlsTest, AStreamEndsWhenItsCertificatesWereReplaced) {
  const TempDir dir;
  FakeApiServer server(
      [this](const FakeRequest&, FakeReply& reply) {
        reply.BeginStream();
        reply.Chunk("one");
        clock_.Advance(absl::Minutes(1));
        reply.Chunk("two");
        reply.HoldOpen();
      },
      {{ca_.Issue("server", kName)}});
  ClientConfig config = server.Config();
  config.certificate_authority.path = dir.Write("ca.crt", ca_.pem());
  const auto transport = New(config);
  const TestCa next("next CA");
  dir.Write("ca.crt", ca_.pem() + next.pem());
  HttpRequest request;
  request.path = "/api";
  StreamOptions options;
  options.on_data = [](absl::string_view) { return absl::OkStatus(); };
  const absl::Status status = transport->Stream(request, options).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("certificates were replaced"));
}

TEST_F(TransportTlsTest, RefusesOldTls) {
  FakeApiServer server(RespondOk, {{ca_.Issue("server", kName)}});
  server.SetMaxProtocol(TLS1_1_VERSION);
  const absl::Status status = Get(*New(server.Config(ca_.pem())));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("TLS handshake"));
}

}  // namespace
}  // namespace reclaim::kube
