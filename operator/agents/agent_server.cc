// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/agent_server.h"

#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "common/agent_api.h"

namespace reclaim::op {
namespace {

constexpr size_t kMaxGrpcBytes = size_t{1} << 30;

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void SetLimits(const AgentServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxAgentMessageBytes);
  builder.SetMaxSendMessageSize(kMaxAgentMessageBytes);
  builder.SetResourceQuota(grpc::ResourceQuota("agents").Resize(kMaxGrpcBytes));
  // Half-open connections: found by our pings in 80 s.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // The default of 5 minutes would answer the agents' own pings with GOAWAY.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kAgentKeepaliveSeconds * 1000 / 2);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                             Milliseconds(options.max_connection_age));
  // Infinite by default, and then a stream is never cut.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                             Milliseconds(options.max_connection_age_grace));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 15'000);
  // Two operators on one port would share its agents at random.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

grpc::ServerBidiReactor<kswapd::v1alpha1::AgentMessage, kswapd::v1alpha1::OperatorMessage>*
AgentServer::Service::Connect(grpc::CallbackServerContext* context) {
  const auto& metadata = context->client_metadata();
  const auto authorization = metadata.find("authorization");
  const absl::string_view value =
      authorization == metadata.end()
          ? absl::string_view()
          : absl::string_view(authorization->second.data(), authorization->second.size());
  return AgentStream::Start(environment_, value);
}

absl::StatusOr<std::unique_ptr<AgentServer>> AgentServer::Start(
    const AgentServerOptions& options, const StreamEnvironment& environment) {
  std::unique_ptr<AgentServer> agents(new AgentServer(environment));
  grpc::ServerBuilder builder;
  SetLimits(options, builder);
  builder.AddListeningPort(options.address, options.credentials, &agents->port_);
  builder.RegisterService(&agents->service_);
  agents->server_ = builder.BuildAndStart();
  if (agents->server_ == nullptr || agents->port_ == 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen for agents on ", options.address,
                                               "; is the port taken? (--grpc-address)"));
  }
  return agents;
}

AgentServer::~AgentServer() { Stop(); }

void AgentServer::Stop(absl::Duration limit) {
  if (server_ == nullptr) return;
  environment_.sessions.EndAll({grpc::StatusCode::UNAVAILABLE, "the operator is stopping"});
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(limit));
  server_->Wait();
  server_.reset();
}

}  // namespace reclaim::op
