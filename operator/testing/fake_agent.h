// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_TESTING_FAKE_AGENT_H_
#define RECLAIM_OPERATOR_TESTING_FAKE_AGENT_H_

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "kswapd/v1alpha1/agent.grpc.pb.h"

namespace reclaim::op {

// One hand-made agent stream. Every call ends within `kLimit`, so a test that waits for what never
// comes fails and does not hang.
class FakeAgent {
 public:
  static constexpr std::chrono::seconds kLimit{30};

  struct Options {
    int port = 0;
    std::string ca_pem;  // empty: plain TCP, no TLS
    std::string server_name = "reclaim-operator.reclaim-system.svc";
    std::string authorization;  // the metadata's value; empty: not sent
  };

  explicit FakeAgent(const Options& options) {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride(options.server_name);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    // A connection of its own, as agents on different nodes have.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto credentials = options.ca_pem.empty()
                                 ? grpc::InsecureChannelCredentials()
                                 : grpc::SslCredentials({options.ca_pem, "", ""});
    channel_ =
        grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", options.port), credentials, arguments);
    stub_ = kswapd::v1alpha1::NodeAgentService::NewStub(channel_);
    context_.set_deadline(std::chrono::system_clock::now() + kLimit);
    if (!options.authorization.empty()) {
      context_.AddMetadata("authorization", options.authorization);
    }
    stream_ = stub_->Connect(&context_);
  }

  ~FakeAgent() {
    if (!finished_) {
      context_.TryCancel();
      Finish();
    }
  }

  bool Send(const kswapd::v1alpha1::AgentMessage& message) { return stream_->Write(message); }

  bool Hello(const std::string& applied_version = "", const std::string& node_name = "") {
    kswapd::v1alpha1::AgentMessage message;
    message.mutable_hello()->set_agent_version("test");
    message.mutable_hello()->set_applied_version(applied_version);
    message.mutable_hello()->set_node_name(node_name);
    return Send(message);
  }

  // The next push; nullopt when the stream has ended.
  std::optional<kswapd::v1alpha1::SpecPush> ReadPush() {
    kswapd::v1alpha1::OperatorMessage message;
    if (!stream_->Read(&message)) return std::nullopt;
    return message.push();
  }

  bool Ack(const kswapd::v1alpha1::SpecPush& push, std::optional<std::string> error = {}) {
    kswapd::v1alpha1::AgentMessage message;
    message.mutable_ack()->set_version(push.version());
    message.mutable_ack()->set_nonce(push.nonce());
    if (error.has_value()) message.mutable_ack()->set_error(*error);
    return Send(message);
  }

  bool Report(const kswapd::v1alpha1::NodeReclaimStatus& status) {
    kswapd::v1alpha1::AgentMessage message;
    *message.mutable_status() = status;
    return Send(message);
  }

  // Says that nothing more comes and waits for the end. Pushes that still come are dropped.
  grpc::Status Finish() {
    finished_ = true;
    stream_->WritesDone();
    while (ReadPush().has_value()) {
    }
    return stream_->Finish();
  }

  // Waits until the operator ends the stream. Pushes that still come are dropped.
  grpc::Status WaitForEnd() {
    while (ReadPush().has_value()) {
    }
    finished_ = true;
    return stream_->Finish();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<kswapd::v1alpha1::NodeAgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<kswapd::v1alpha1::AgentMessage, kswapd::v1alpha1::OperatorMessage>>
      stream_;
  bool finished_ = false;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_TESTING_FAKE_AGENT_H_
