// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_TESTING_TEST_OPERATOR_H_
#define RECLAIM_NODE_AGENT_TESTING_TEST_OPERATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/testing/test_ca.h"
#include "grpcpp/grpcpp.h"
#include "kswapd/v1alpha1/agent.grpc.pb.h"

namespace reclaim::agent {

// The operator's side of the stream, played by a test: a real gRPC server over real TLS on
// loopback.
class TestOperator : public kswapd::v1alpha1::NodeAgentService::Service {
 public:
  // Port 0: any free one. Without `tls` it speaks plain text.
  explicit TestOperator(const TestIdentity& identity, int port = 0, bool tls = true);
  ~TestOperator() override;

  int port() const { return port_; }
  std::string address() const;

  // Streams with another token are refused with UNAUTHENTICATED. Empty: any token is good.
  void RequireToken(const std::string& token);

  // What the agents have sent, over all streams, in order: "hello v1", "ack v1 n1", "nack v1 n1:
  // why", "status N" (number of settings).
  std::vector<std::string> Received() const;
  // Waits until `count` messages have come; prints what it waited for and what it saw otherwise.
  std::vector<std::string> WaitForReceived(size_t count);
  std::vector<std::string> tokens() const;

  // On the stream that is open; waits for one.
  void Push(const std::string& version, const std::string& nonce, const std::string& node_spec);
  // Ends the open stream; the agent comes again.
  void EndStream();

 private:
  grpc::Status Connect(grpc::ServerContext* context,
                       grpc::ServerReaderWriter<kswapd::v1alpha1::OperatorMessage,
                                                kswapd::v1alpha1::AgentMessage>* stream) override;

  mutable absl::Mutex mutex_;
  std::string required_token_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> received_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> tokens_ ABSL_GUARDED_BY(mutex_);
  grpc::ServerContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
  grpc::ServerReaderWriter<kswapd::v1alpha1::OperatorMessage, kswapd::v1alpha1::AgentMessage>*
      stream_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_TESTING_TEST_OPERATOR_H_
