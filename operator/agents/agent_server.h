// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_AGENT_SERVER_H_
#define RECLAIM_OPERATOR_AGENTS_AGENT_SERVER_H_

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kswapd/v1alpha1/agent.grpc.pb.h"
#include "operator/agents/agent_stream.h"

namespace reclaim::op {

struct AgentServerOptions {
  std::string address = "[::]:8443";  // port 0: any free one
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  // A connection is asked to end after this age (gRPC adds ±10 %) and cut after the grace, so that
  // each agent's token is reviewed again and agents spread over replicas.
  absl::Duration max_connection_age = absl::Minutes(45);
  absl::Duration max_connection_age_grace = absl::Seconds(45);
};

// The agents' port: NodeAgentService over TLS.
//
// Threads: gRPC's own pool, and none blocks. Start it only when `environment.sessions` has a world:
// what is not known yet must not be taken for "no policy".
class AgentServer {
 public:
  // Listens from now on. kUnavailable when the address cannot be bound. What `environment` refers
  // to must outlive the server.
  static absl::StatusOr<std::unique_ptr<AgentServer>> Start(const AgentServerOptions& options,
                                                            const StreamEnvironment& environment);
  ~AgentServer();  // Stop()

  int port() const { return port_; }

  // Tells every agent that the operator is stopping, so that they come back to another or later
  // one, and waits until their streams have ended (at most `limit`, then they are cut).
  void Stop(absl::Duration limit = absl::Seconds(5));

 private:
  class Service final : public kswapd::v1alpha1::NodeAgentService::CallbackService {
   public:
    explicit Service(const StreamEnvironment& environment) : environment_(environment) {}
    grpc::ServerBidiReactor<kswapd::v1alpha1::AgentMessage, kswapd::v1alpha1::OperatorMessage>*
    Connect(grpc::CallbackServerContext* context) override;

   private:
    const StreamEnvironment& environment_;
  };

  explicit AgentServer(const StreamEnvironment& environment)
      : environment_(environment), service_(environment) {}

  const StreamEnvironment& environment_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_AGENT_SERVER_H_
