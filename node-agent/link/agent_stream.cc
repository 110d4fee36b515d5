// SPDX-License-Identifier: Apache-2.0
#include "node-agent/link/agent_stream.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "node-agent/state/checkpoint.h"

namespace reclaim::agent {

using kswapd::v1alpha1::SpecPush;

void AgentStream::Begin(kswapd::v1alpha1::NodeAgentService::Stub& stub, const std::string& token,
                        kswapd::v1alpha1::Hello hello) {
  context_.AddMetadata("authorization", absl::StrCat("Bearer ", token));
  {
    absl::MutexLock lock(&mutex_);
    *answers_.emplace_back().mutable_hello() = std::move(hello);
  }
  stub.async()->Connect(&context_, this);
  // Writes come from other threads than gRPC's; held until the read side ends.
  AddHold();
  StartRead(&incoming_);
  Flush();
  StartCall();
}

void AgentStream::StageStatus(const kswapd::v1alpha1::NodeReclaimStatus& status,
                              const std::string& version) {
  absl::MutexLock lock(&mutex_);
  if (unapplied_.has_value() && unapplied_->version() == version) {
    *answers_.emplace_back().mutable_ack() = *std::move(unapplied_);
    unapplied_.reset();
  }
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
    bool release;
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
      read_ended_ = true;
      release = TakeRelease();
    }
    if (release) RemoveHold();
    return;
  }
  NoteConnected();
  if (incoming_.has_push()) Answer(incoming_.push());
  incoming_.Clear();
  StartRead(&incoming_);
}

// A write that TakeNext has decided on may not have reached gRPC yet: the hold outlasts it.
bool AgentStream::TakeRelease() {
  if (!held_ || !read_ended_ || writing_) return false;
  held_ = false;
  return true;
}

void AgentStream::Answer(const SpecPush& push) {
  kswapd::v1alpha1::SpecAck ack;
  ack.set_version(push.version());
  ack.set_nonce(push.nonce());
  absl::StatusOr<SpecUpdate> update = DecodeSpec(push.version(), push.node_spec());
  if (update.ok()) {
    {
      absl::MutexLock lock(&mutex_);
      unapplied_ = std::move(ack);
    }
    events_.accepted(*std::move(update));
    return;
  }
  const std::string error(update.status().message());
  ack.set_error(error);
  events_.refused(push.version(), error);
  {
    absl::MutexLock lock(&mutex_);
    *answers_.emplace_back().mutable_ack() = std::move(ack);
  }
  Flush();
}

void AgentStream::OnWriteDone(bool ok) {
  const bool was_status = outgoing_.has_status();
  bool release;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) ended_ = true;
    release = TakeRelease();
  }
  if (release) RemoveHold();
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
