// SPDX-License-Identifier: Apache-2.0
#include "node-agent/link/agent_stream.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "node-agent/state/checkpoint.h"

namespace reclaim::agent {

using kswapd::v1alpha1::AgentMessage;
using kswapd::v1alpha1::SpecPush;

void AgentStream::Begin(kswapd::v1alpha1::NodeAgentService::Stub& stub, const std::string& token,
                        const std::string& agent_version, const std::string& applied_version) {
  context_.AddMetadata("authorization", absl::StrCat("Bearer ", token));
  AgentMessage hello;
  hello.mutable_hello()->set_agent_version(agent_version);
  hello.mutable_hello()->set_applied_version(applied_version);
  {
    absl::MutexLock lock(&mutex_);
    answers_.push_back(std::move(hello));
  }
  stub.async()->Connect(&context_, this);
  // Writes come from other threads than gRPC's; held until the read side ends.
  AddHold();
  StartRead(&incoming_);
  Flush();
  StartCall();
}

void AgentStream::StageStatus(const kswapd::v1alpha1::NodeReclaimStatus& status) {
  absl::MutexLock lock(&mutex_);
  status_ = status;
}

bool AgentStream::TakeNext() {
  if (writing_ || ended_) return false;
  if (!answers_.empty()) {
    outgoing_ = std::move(answers_.front());
    answers_.pop_front();
    writing_ = true;
    return true;
  }
  if (!status_.has_value()) return false;
  std::string bytes = status_->SerializeAsString();
  if (bytes == sent_status_) {
    status_.reset();
    return false;
  }
  sent_status_ = std::move(bytes);
  outgoing_.Clear();
  *outgoing_.mutable_status() = *std::move(status_);
  status_.reset();
  writing_ = true;
  return true;
}

void AgentStream::Flush() {
  {
    absl::MutexLock lock(&mutex_);
    if (!TakeNext()) return;
  }
  StartWrite(&outgoing_);
}

void AgentStream::NoteConnected() {
  {
    absl::MutexLock lock(&mutex_);
    if (connected_) return;
    connected_ = true;
  }
  events_.connected();
}

void AgentStream::OnReadInitialMetadataDone(bool ok) {
  if (ok) NoteConnected();
}

void AgentStream::OnReadDone(bool ok) {
  if (!ok) {
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
    }
    RemoveHold();
    return;
  }
  NoteConnected();
  if (incoming_.has_push()) Answer(incoming_.push());
  incoming_.Clear();
  StartRead(&incoming_);
}

void AgentStream::Answer(const SpecPush& push) {
  AgentMessage answer;
  answer.mutable_ack()->set_version(push.version());
  answer.mutable_ack()->set_nonce(push.nonce());
  absl::StatusOr<SpecUpdate> update = DecodeSpec(push.version(), push.node_spec());
  if (update.ok()) {
    events_.accepted(*std::move(update));
  } else {
    const std::string error(update.status().message());
    answer.mutable_ack()->set_error(error);
    events_.refused(push.version(), error);
  }
  {
    absl::MutexLock lock(&mutex_);
    answers_.push_back(std::move(answer));
  }
  Flush();
}

void AgentStream::OnWriteDone(bool ok) {
  bool was_status;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    was_status = outgoing_.has_status();
    if (!ok) ended_ = true;
  }
  if (!ok) return;
  if (was_status) events_.status_sent();
  Flush();
}

void AgentStream::OnDone(const grpc::Status& status) {
  absl::MutexLock lock(&mutex_);
  ended_ = true;
  done_ = status;
}

grpc::Status AgentStream::AwaitDone() {
  absl::MutexLock lock(&mutex_);
  const auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return done_.has_value(); };
  mutex_.Await(absl::Condition(&done));
  return *done_;
}

}  // namespace reclaim::agent
