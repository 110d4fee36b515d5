// SPDX-License-Identifier: Apache-2.0
//
// The agents' port in one process, over real TLS, with a scripted TokenReviewer.
#include "operator/agents/agent_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "common/grpc_log.h"
#include "common/testing/eventually.h"
#include "operator/pki/certificate_folder.h"
#include "operator/pki/server_credentials.h"
#include "operator/testing/fake_agent.h"
#include "operator/testing/policies.h"
#include "prometheus/registry.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using kswapd::v1alpha1::NodeSpec;
using testing::HasSubstr;

constexpr char kHost[] = "reclaim-operator.reclaim-system.svc";
constexpr char kAgentUser[] = "system:serviceaccount:reclaim-system:reclaim-node-agent";

// Tokens are what they say: "agent@n1" is the agent's on node n1.
class ScriptedReviewer : public TokenReviewer {
 public:
  absl::StatusOr<kube::TokenIdentity> Review(absl::string_view token) override {
    ++reviews;
    kube::TokenIdentity identity;
    identity.username = kAgentUser;
    if (token == "expired") {
      return absl::UnauthenticatedError("token refused: service account token has expired");
    }
    if (token == "other-audience") {
      return absl::UnauthenticatedError("token refused: it is not for audience \"x\"");
    }
    if (token == "api-server-away") return absl::UnavailableError("connection refused");
    if (token == "agent-not-bound") return identity;
    identity.node_name = "n1";
    identity.node_uid = "uid-n1";
    if (token == "somebody-else@n1") identity.username = "system:serviceaccount:default:default";
    if (token == "agent@earlier-n1") identity.node_uid = "uid-of-an-earlier-n1";
    if (absl::StartsWith(token, "agent@n")) {
      identity.node_name = std::string(token.substr(6));
      identity.node_uid = absl::StrCat("uid-", identity.node_name);
    }
    return identity;
  }

  std::atomic<int> reviews = 0;
};

KeyPair Authority() {
  static const KeyPair authority =
      *NewAuthority("reclaim-operator-ca", absl::Now(), absl::Hours(1));
  return authority;
}

Policy WithWorkers(int workers) {
  return ReleasedPolicy("p", absl::StrCat(R"({"kswapd":{"workers":)", workers, "}}"));
}

int WorkersIn(const kswapd::v1alpha1::SpecPush& push) {
  NodeSpec spec;
  EXPECT_TRUE(spec.ParseFromString(push.node_spec()));
  return spec.spec().kswapd().workers();
}

class AgentServerTest : public testing::Test {
 protected:
  void SetUp() override {
    RouteGrpcLog([this] { metrics_.CountHandshakeFailure(); });
    folder_ = *CertificateFolder::Create(testing::TempDir());
    const auto pair = IssueServerCertificate(Authority(), {kHost}, absl::Now(), absl::Hours(1));
    ASSERT_TRUE(pair.ok()) << pair.status();
    ASSERT_TRUE(folder_->Write(*pair, absl::Now()).ok());
    Publish({WithWorkers(1)});
  }

  void TearDown() override {
    server_.reset();
    reviews_.Stop();
    RouteGrpcLog(nullptr);
  }

  void Serve(AgentServerOptions options = {}) {
    options.address = "127.0.0.1:0";
    options.credentials = ServerCredentials(*folder_);
    auto server = AgentServer::Start(options, environment_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // Makes a world of these policies current, as the planner does.
  void Publish(std::vector<Policy> policies) {
    std::vector<std::shared_ptr<const Node>> nodes;
    for (const std::string& name : node_names_) {
      nodes.push_back(NewNode(name, {{"name", name}}));
    }
    const auto before = sessions_.world();
    const auto world = World::Build(std::move(policies), nodes, before.get());
    sessions_.Publish(world, ChangedNodes(before.get(), *world), clock_.Monotonic());
  }

  FakeAgent::Options Agent(const std::string& token) {
    return {.port = server_->port(),
            .ca_pem = Authority().certificate_pem,
            .authorization = token.empty() ? "" : absl::StrCat("Bearer ", token)};
  }

  SystemClock clock_;
  prometheus::Registry registry_;
  AgentMetrics metrics_{registry_};
  AgentSessions sessions_;
  AgentBook book_{clock_, [](absl::string_view, absl::Duration) {}};
  ScriptedReviewer reviewer_;
  ReviewPool reviews_{reviewer_, clock_};
  const StreamEnvironment environment_{kAgentUser, reviews_, sessions_, book_, metrics_, clock_};
  std::vector<std::string> node_names_ = {"n1", "n2", "n3"};
  std::unique_ptr<CertificateFolder> folder_;
  std::unique_ptr<AgentServer> server_;
};

TEST_F(AgentServerTest, ServesTheSpecOfTheTokensNode) {
  Serve();
  Publish({WithWorkers(1), ReleasedPolicy("q", R"({"kswapd":{"workers":7},"priority":1,
                                   "nodeSelector":{"matchLabels":{"name":"n2"}}})")});
  FakeAgent one(Agent("agent@n1"));
  one.Hello("", "n1");
  const auto first = one.ReadPush();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(WorkersIn(*first), 1);
  EXPECT_EQ(first->version(), ContentHash(first->node_spec()));
  FakeAgent two(Agent("agent@n2"));
  two.Hello();
  const auto second = two.ReadPush();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(WorkersIn(*second), 7);
  EXPECT_NE(first->nonce(), second->nonce());
  EXPECT_EQ(book_.connected(), 2);
}

TEST_F(AgentServerTest, SaysNoPolicyExplicitly) {
  Serve();
  Publish({});
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello();
  const auto push = agent.ReadPush();
  ASSERT_TRUE(push.has_value());
  NodeSpec spec;
  ASSERT_TRUE(spec.ParseFromString(push->node_spec()));
  EXPECT_FALSE(spec.has_policy());
}

TEST_F(AgentServerTest, RefusesAndCounts) {
  Serve();
  struct Case {
    const char* token;
    const char* hello_node;
    RejectionReason reason;
    grpc::StatusCode code;
  };
  const Case cases[] = {
      {"", "", RejectionReason::kNoToken, grpc::StatusCode::UNAUTHENTICATED},
      {"expired", "", RejectionReason::kNotAuthenticated, grpc::StatusCode::UNAUTHENTICATED},
      {"other-audience", "", RejectionReason::kNotAuthenticated, grpc::StatusCode::UNAUTHENTICATED},
      {"somebody-else@n1", "", RejectionReason::kWrongServiceAccount,
       grpc::StatusCode::PERMISSION_DENIED},
      {"agent-not-bound", "", RejectionReason::kNoNodeClaim, grpc::StatusCode::PERMISSION_DENIED},
      {"agent@n2", "n1", RejectionReason::kWrongNode, grpc::StatusCode::PERMISSION_DENIED},
      {"agent@n99", "", RejectionReason::kUnknownNode, grpc::StatusCode::PERMISSION_DENIED},
      {"agent@earlier-n1", "", RejectionReason::kUnknownNode, grpc::StatusCode::PERMISSION_DENIED},
      {"api-server-away", "", RejectionReason::kReviewUnavailable, grpc::StatusCode::UNAVAILABLE},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.token);
    const double before = metrics_.rejections(c.reason);
    FakeAgent agent(Agent(c.token));
    agent.Hello("", c.hello_node);
    const grpc::Status status = agent.WaitForEnd();
    EXPECT_EQ(status.error_code(), c.code) << status.error_message();
    EXPECT_FALSE(status.error_message().empty());
    EXPECT_EQ(metrics_.rejections(c.reason), before + 1);
  }
  EXPECT_EQ(metrics_.pushes(), 0);
  EXPECT_EQ(book_.connected(), 0);
}

TEST_F(AgentServerTest, CutsWhatAnAgentSaysOfItself) {
  Serve();
  const std::string endless(100'000, 'x');  // two of them fit into a message
  FakeAgent liar(Agent("agent@n1"));
  liar.Hello("", endless);
  const grpc::Status status = liar.WaitForEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_LT(status.error_message().size(), 1000u);

  testing::internal::CaptureStderr();
  FakeAgent agent(Agent("agent@n1"));
  kswapd::v1alpha1::AgentMessage message;
  message.mutable_hello()->set_agent_version(endless);
  message.mutable_hello()->set_applied_version(endless);
  agent.Send(message);
  const auto push = agent.ReadPush();
  EXPECT_TRUE(push.has_value()) << "a version that was cut is none of ours";
  if (push.has_value()) agent.Ack(*push, endless);
  EXPECT_TRUE(
      Eventually("the refusal", [&] { return !book_.Find("n1").observation.refusal.empty(); }));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("agent connected"));
  EXPECT_THAT(log, HasSubstr("spec refused"));
  EXPECT_LT(log.size(), 10'000u);
}

TEST_F(AgentServerTest, RefusesAndCountsPlainTcp) {
  Serve();
  // A gRPC client without TLS.
  FakeAgent::Options plain = Agent("agent@n1");
  plain.ca_pem.clear();
  FakeAgent agent(plain);
  agent.Hello();
  EXPECT_EQ(agent.WaitForEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Eventually("a counted failure", [&] { return metrics_.handshake_failures() > 0; }));

  // Anything else that speaks first.
  const double before = metrics_.handshake_failures();
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  const auto closer = absl::MakeCleanup([fd] { close(fd); });
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server_->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  constexpr char kText[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_EQ(write(fd, kText, sizeof(kText) - 1), static_cast<ssize_t>(sizeof(kText) - 1));
  EXPECT_TRUE(
      Eventually("another failure", [&] { return metrics_.handshake_failures() > before; }));
  EXPECT_EQ(reviewer_.reviews, 0);
}

TEST_F(AgentServerTest, AnAgentThatTrustsAnotherAuthorityDoesNotSendItsToken) {
  Serve();
  FakeAgent::Options other = Agent("agent@n1");
  other.ca_pem = NewAuthority("other", absl::Now(), absl::Hours(1))->certificate_pem;
  FakeAgent agent(other);
  EXPECT_EQ(agent.WaitForEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(reviewer_.reviews, 0);
}

TEST_F(AgentServerTest, TheFirstMessageMustBeAHello) {
  Serve();
  FakeAgent agent(Agent("agent@n1"));
  agent.Report({});
  EXPECT_EQ(agent.WaitForEnd().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(book_.Find("n1").observation.report, nullptr);

  FakeAgent twice(Agent("agent@n1"));
  twice.Hello();
  twice.Hello();
  EXPECT_EQ(twice.WaitForEnd().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(AgentServerTest, SendsNothingWhenTheAgentRunsTheNewest) {
  Serve();
  const std::string version = sessions_.PlanFor("n1")->version;
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello(version);
  ASSERT_TRUE(Eventually("the agent to be connected", [&] { return book_.connected() == 1; }));
  Publish({WithWorkers(2)});
  const auto push = agent.ReadPush();
  ASSERT_TRUE(push.has_value());
  EXPECT_EQ(WorkersIn(*push), 2);
  EXPECT_EQ(metrics_.pushes(), 1);
}

TEST_F(AgentServerTest, OneUnacknowledgedPushAndTheNewestWins) {
  Serve();
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello();
  const auto first = agent.ReadPush();
  ASSERT_TRUE(first.has_value());
  for (int workers : {2, 3, 4}) Publish({WithWorkers(workers)});
  agent.Ack(*first);
  const auto second = agent.ReadPush();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(WorkersIn(*second), 4);
  agent.Ack(*second);
  EXPECT_TRUE(agent.Finish().ok());
  EXPECT_EQ(metrics_.pushes(), 2);
}

TEST_F(AgentServerTest, HoldsARefusedSpecUntilTheNext) {
  Serve();
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello();
  const auto first = agent.ReadPush();
  ASSERT_TRUE(first.has_value());
  agent.Ack(*first, "spec.kswapd.workers: I cannot");
  ASSERT_TRUE(Eventually("the refusal to be known", [&] {
    return book_.Find("n1").observation.refusal == "spec.kswapd.workers: I cannot";
  }));
  EXPECT_EQ(metrics_.nacks(), 1);
  // Of another policy that does not matter here.
  Publish({WithWorkers(1), ReleasedPolicy("x", R"({"nodeSelector":{"matchLabels":{"a":"b"}}})")});
  Publish({WithWorkers(5)});
  const auto second = agent.ReadPush();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(WorkersIn(*second), 5);
  EXPECT_EQ(metrics_.pushes(), 2);
  EXPECT_TRUE(Eventually("the refusal to be forgotten",
                         [&] { return book_.Find("n1").observation.refusal.empty(); }));
}

// The thread that pushes clears the refusal of the spec before; the agent may be quicker than that.
TEST_F(AgentServerTest, ARefusalIsNotOvertakenByThePushThatItAnswers) {
  Serve();
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello();
  std::thread refuser([&] {
    while (const auto push = agent.ReadPush()) agent.Ack(*push, absl::StrCat(WorkersIn(*push)));
  });
  constexpr int kSpecs = 100;
  for (int workers = 1; workers <= kSpecs; ++workers) {
    Publish({WithWorkers(workers)});
    EXPECT_TRUE(
        Eventually(absl::StrCat("refusal of spec ", workers),
                   [&] { return book_.Find("n1").observation.refusal == absl::StrCat(workers); }))
        << "it is " << book_.Find("n1").observation.refusal;
    if (HasFailure()) break;
  }
  server_->Stop();
  refuser.join();
}

TEST_F(AgentServerTest, NotifiesOnlyTheNodesThatAreConcerned) {
  Serve();
  FakeAgent one(Agent("agent@n1"));
  FakeAgent two(Agent("agent@n2"));
  for (FakeAgent* agent : {&one, &two}) {
    agent->Hello();
    const auto push = agent->ReadPush();
    ASSERT_TRUE(push.has_value());
    agent->Ack(*push);
  }
  const Policy for_two = ReleasedPolicy("q", R"({"kswapd":{"workers":7},"priority":1,
                                                 "nodeSelector":{"matchLabels":{"name":"n2"}}})");
  Publish({WithWorkers(1), for_two});
  const auto push = two.ReadPush();
  ASSERT_TRUE(push.has_value());
  EXPECT_EQ(WorkersIn(*push), 7);
  // Had n1 been told anything it would come first.
  Publish({WithWorkers(2), for_two});
  const auto next = one.ReadPush();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(WorkersIn(*next), 2);
  EXPECT_EQ(metrics_.pushes(), 4);
}

TEST_F(AgentServerTest, AcceptsStatusForTheTokensNodeOnly) {
  Serve();
  FakeAgent agent(Agent("agent@n2"));
  agent.Hello();
  NodeReclaimStatus status;
  status.set_agent_version("v7");
  agent.Report(status);
  ASSERT_TRUE(Eventually("the report to arrive",
                         [&] { return book_.Find("n2").observation.report != nullptr; }));
  EXPECT_EQ(book_.Find("n2").observation.report->agent_version(), "v7");
  EXPECT_EQ(book_.Find("n1").observation.report, nullptr);
}

TEST_F(AgentServerTest, RefusesMessagesThatAreTooLarge) {
  Serve();
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello();
  NodeReclaimStatus status;
  status.set_agent_version(std::string(size_t{300} * 1024, 'x'));
  agent.Report(status);
  EXPECT_EQ(agent.WaitForEnd().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(AgentServerTest, ASecondStreamOfANodeReplacesTheFirst) {
  Serve();
  FakeAgent first(Agent("agent@n1"));
  first.Hello();
  ASSERT_TRUE(first.ReadPush().has_value());
  FakeAgent second(Agent("agent@n1"));
  second.Hello();
  ASSERT_TRUE(second.ReadPush().has_value());
  const grpc::Status status = first.WaitForEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(status.error_message(), HasSubstr("took over"));
  EXPECT_EQ(book_.connected(), 1);
  EXPECT_EQ(book_.Find("n1").observation.link, AgentObservation::Link::kConnected);
}

TEST_F(AgentServerTest, EndsTheStreamWhenTheNodeIsGone) {
  Serve();
  FakeAgent agent(Agent("agent@n3"));
  agent.Hello();
  ASSERT_TRUE(agent.ReadPush().has_value());
  node_names_.pop_back();
  Publish({WithWorkers(1)});
  EXPECT_EQ(agent.WaitForEnd().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Eventually("the agent to be gone", [&] { return book_.connected() == 0; }));
}

TEST_F(AgentServerTest, AnAgentThatComesBackGetsWhatItMissed) {
  Serve();
  std::string applied;
  {
    FakeAgent agent(Agent("agent@n1"));
    agent.Hello();
    const auto push = agent.ReadPush();
    ASSERT_TRUE(push.has_value());
    agent.Ack(*push);
    applied = push->version();
    EXPECT_TRUE(agent.Finish().ok());
  }
  ASSERT_TRUE(Eventually("the agent to be gone", [&] { return book_.connected() == 0; }));
  Publish({WithWorkers(9)});
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello(applied);
  const auto push = agent.ReadPush();
  ASSERT_TRUE(push.has_value());
  EXPECT_EQ(WorkersIn(*push), 9);
}

TEST_F(AgentServerTest, StopTellsAgentsToComeBackLater) {
  Serve();
  FakeAgent agent(Agent("agent@n1"));
  agent.Hello();
  ASSERT_TRUE(agent.ReadPush().has_value());
  std::thread stopper([&] { server_->Stop(); });
  const grpc::Status status = agent.WaitForEnd();
  stopper.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("stopping"));
}

TEST_F(AgentServerTest, CutsStreamsAtTheirMaximumAgeSoThatTokensAreReviewedAgain) {
  Serve({.max_connection_age = absl::Milliseconds(200),
         .max_connection_age_grace = absl::Milliseconds(200)});
  for (int round = 1; round <= 2; ++round) {
    FakeAgent agent(Agent("agent@n1"));
    agent.Hello();
    EXPECT_EQ(agent.WaitForEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(reviewer_.reviews, round);
  }
}

TEST_F(AgentServerTest, TakesANewCertificateWithoutARestart) {
  Serve();
  const KeyPair next = *NewAuthority("next", absl::Now(), absl::Hours(1));
  const auto pair = IssueServerCertificate(next, {kHost}, absl::Now(), absl::Hours(1));
  ASSERT_TRUE(folder_->Write(*pair, absl::Now()).ok());
  FakeAgent::Options options = Agent("agent@n1");
  options.ca_pem = next.certificate_pem;
  EXPECT_TRUE(Eventually("the new certificate to be served", [&] {
    FakeAgent agent(options);
    agent.Hello();
    return agent.ReadPush().has_value();
  }));
}

// Many agents, many changes, from several threads: in the end everyone has the last spec.
TEST_F(AgentServerTest, AllAgentsConvergeUnderChange) {
  constexpr int kAgents = 8;
  node_names_.clear();
  for (int i = 0; i < kAgents; ++i) node_names_.push_back(absl::StrCat("n", i));
  Publish({WithWorkers(1)});
  Serve();
  std::vector<std::thread> agents;
  std::atomic<int> converged = 0;
  for (int i = 0; i < kAgents; ++i) {
    agents.emplace_back([&, i] {
      std::string applied;
      for (int life = 0; life < 3; ++life) {
        FakeAgent agent(Agent(absl::StrCat("agent@n", i)));
        agent.Hello(applied);
        while (const auto push = agent.ReadPush()) {
          agent.Ack(*push);
          agent.Report({});
          applied = push->version();
          if (WorkersIn(*push) == 16) {
            ++converged;
            return;
          }
          if (life < 2) break;  // comes back with a new stream
        }
      }
    });
  }
  for (int workers = 2; workers <= 16; ++workers) {
    // Each change meets streams that open, wait for an acknowledgement, and end.
    const double before = metrics_.pushes();
    Publish({WithWorkers(workers)});
    EXPECT_TRUE(Eventually("an agent to be told", [&] { return metrics_.pushes() > before; }));
  }
  for (std::thread& thread : agents) thread.join();
  EXPECT_EQ(converged, kAgents);
}

}  // namespace
}  // namespace reclaim::op
