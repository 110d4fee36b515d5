// SPDX-License-Identifier: Apache-2.0
#include "node-agent/testing/test_operator.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::AgentMessage;
using kswapd::v1alpha1::OperatorMessage;

constexpr absl::Duration kPatience = absl::Seconds(60);

std::string Describe(const AgentMessage& message) {
  switch (message.message_case()) {
    case AgentMessage::kHello:
      return absl::StrCat("hello ", message.hello().node_name(), " ",
                          message.hello().applied_version());
    case AgentMessage::kAck:
      return message.ack().has_error()
                 ? absl::StrCat("nack ", message.ack().version(), " ", message.ack().nonce(), ": ",
                                message.ack().error())
                 : absl::StrCat("ack ", message.ack().version(), " ", message.ack().nonce());
    case AgentMessage::kStatus:
      return absl::StrCat("status ", message.status().settings_size());
    case AgentMessage::MESSAGE_NOT_SET:
      break;
  }
  return "nothing";
}

}  // namespace

TestOperator::TestOperator(const TestIdentity& identity, int port, bool tls) {
  grpc::ServerBuilder builder;
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  if (tls) {
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back({identity.key_pem, identity.cert_pem});
    credentials = grpc::SslServerCredentials(options);
  }
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), credentials, &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) std::abort();
}

TestOperator::~TestOperator() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

std::string TestOperator::address() const { return absl::StrCat("127.0.0.1:", port_); }

void TestOperator::RequireToken(const std::string& token) {
  absl::MutexLock lock(&mutex_);
  required_token_ = token;
}

std::vector<std::string> TestOperator::Received() const {
  absl::MutexLock lock(&mutex_);
  return received_;
}

std::vector<std::string> TestOperator::tokens() const {
  absl::MutexLock lock(&mutex_);
  return tokens_;
}

std::vector<std::string> TestOperator::WaitForReceived(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return received_.size() >= count;
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&enough), kPatience)) {
    std::fprintf(stderr, "waited for %zu messages of the agent; got: %s\n", count,
                 absl::StrJoin(received_, " | ").c_str());
  }
  return received_;
}

void TestOperator::Push(const std::string& version, const std::string& nonce,
                        const std::string& node_spec) {
  OperatorMessage message;
  message.mutable_push()->set_version(version);
  message.mutable_push()->set_nonce(nonce);
  message.mutable_push()->set_node_spec(node_spec);
  absl::MutexLock lock(&mutex_);
  const auto open = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stream_ != nullptr; };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&open), kPatience)) {
    std::fprintf(stderr, "waited for a stream to push %s on\n", version.c_str());
    return;
  }
  stream_->Write(message);
}

void TestOperator::EndStream() {
  absl::MutexLock lock(&mutex_);
  if (context_ != nullptr) context_->TryCancel();
}

grpc::Status TestOperator::Connect(
    grpc::ServerContext* context, grpc::ServerReaderWriter<OperatorMessage, AgentMessage>* stream) {
  const auto found = context->client_metadata().find("authorization");
  const std::string token = found == context->client_metadata().end()
                                ? ""
                                : std::string(found->second.data(), found->second.size());
  {
    absl::MutexLock lock(&mutex_);
    tokens_.push_back(token);
    if (!required_token_.empty() && token != absl::StrCat("Bearer ", required_token_)) {
      return {grpc::StatusCode::UNAUTHENTICATED, "not that token"};
    }
  }
  stream->SendInitialMetadata();
  {
    absl::MutexLock lock(&mutex_);
    stream_ = stream;
    context_ = context;
  }
  AgentMessage message;
  while (stream->Read(&message)) {
    absl::MutexLock lock(&mutex_);
    received_.push_back(Describe(message));
  }
  absl::MutexLock lock(&mutex_);
  stream_ = nullptr;
  context_ = nullptr;
  return grpc::Status::OK;
}

}  // namespace reclaim::agent
