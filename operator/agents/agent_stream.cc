// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/agent_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "operator/policy/conditions.h"

namespace reclaim::op {
namespace {

// Of what an agent says of itself, in logs and answers: a message may have 256 KiB. The longest
// name of a node is 253 bytes.
constexpr size_t kMaxNameBytes = 256;

}  // namespace

using kswapd::v1alpha1::AgentMessage;

AgentStream* AgentStream::Start(const StreamEnvironment& environment,
                                absl::string_view authorization) {
  std::shared_ptr<AgentStream> stream(new AgentStream(environment));
  stream->self_ = stream;
  std::string token = BearerToken(authorization);
  if (token.empty()) {
    stream->Reject(
        {RejectionReason::kNoToken, "no token: send the metadata `authorization: Bearer TOKEN`"});
    return stream.get();
  }
  const bool accepted = environment.reviews.Submit(
      std::move(token),
      [stream](const absl::StatusOr<kube::TokenIdentity>& review) { stream->OnReviewed(review); });
  if (!accepted) {
    stream->Reject({RejectionReason::kOverloaded,
                    "too many streams wait for the review of their token; try again"});
  }
  return stream.get();
}

void AgentStream::Reject(const Rejection& rejection) {
  env_.metrics.CountRejection(rejection.reason);
  LogWarning("stream rejected",
             {{"reason", RejectionLabel(rejection.reason)}, {"message", rejection.message}});
  End(rejection.ToGrpcStatus());
}

void AgentStream::OnReviewed(const absl::StatusOr<kube::TokenIdentity>& review) {
  {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;  // the agent did not wait for the answer
  }
  auto verdict = JudgeReview(review, env_.agent_user);
  if (const auto* rejection = std::get_if<Rejection>(&verdict)) {
    Reject(*rejection);
    return;
  }
  absl::MutexLock lock(&mutex_);
  identity_ = std::get<AgentIdentity>(std::move(verdict));
  if (!end_.has_value()) StartRead(&incoming_);
}

void AgentStream::OnReadDone(bool ok) {
  if (!ok) {
    End(grpc::Status::OK);
    return;
  }
  if (!OnMessage()) return;
  absl::MutexLock lock(&mutex_);
  if (!end_.has_value()) StartRead(&incoming_);
}

bool AgentStream::OnMessage() {
  AgentIdentity identity;
  uint64_t number;
  {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return false;
    identity = identity_;
    number = number_;
  }
  const bool is_hello = incoming_.message_case() == AgentMessage::kHello;
  if (is_hello != (number == 0)) {
    End({grpc::StatusCode::INVALID_ARGUMENT,
         is_hello ? "a second Hello" : "the first message of a stream must be a Hello"});
    return false;
  }
  switch (incoming_.message_case()) {
    case AgentMessage::kHello:
      return OnHello(incoming_.hello());
    case AgentMessage::kAck:
      OnAck(incoming_.ack());
      return true;
    case AgentMessage::kStatus:
      env_.book.Report(identity.node_name, number, std::move(*incoming_.mutable_status()));
      return true;
    case AgentMessage::MESSAGE_NOT_SET:
      return true;  // a message of a newer agent
  }
  return true;
}

bool AgentStream::OnHello(const kswapd::v1alpha1::Hello& hello) {
  // A version that was cut equals none of ours, and is not one.
  const std::string applied_version = Shorten(hello.applied_version(), kMaxNameBytes);
  AgentIdentity identity;
  {
    absl::MutexLock lock(&mutex_);
    identity = identity_;
  }
  if (!hello.node_name().empty() && hello.node_name() != identity.node_name) {
    Reject({RejectionReason::kWrongNode,
            absl::StrCat("the token is of a pod on node ", identity.node_name, ", not on ",
                         Shorten(hello.node_name(), kMaxNameBytes))});
    return false;
  }
  const auto opened = env_.sessions.Open(identity, shared_from_this());
  if (const auto* rejection = std::get_if<Rejection>(&opened)) {
    Reject(*rejection);
    return false;
  }
  const uint64_t number = std::get<uint64_t>(opened);
  bool ended;
  {
    absl::MutexLock lock(&mutex_);
    number_ = number;
    protocol_ = PushProtocol(absl::StrCat(number));
    protocol_.OnHello(applied_version);
    ended = end_.has_value();
    // Tells the agent that it is served, also when it has the newest spec and nothing is pushed.
    if (!ended) StartSendInitialMetadata();
  }
  if (ended) {
    // It ended between Open and here, so End did not know the number.
    env_.sessions.Close(identity.node_name, number);
    return false;
  }
  LogInfo("agent connected", {{"node", identity.node_name},
                              {"agent_version", Shorten(hello.agent_version(), kMaxNameBytes)},
                              {"applied_version", applied_version}});
  env_.book.Connect(identity.node_name, number);
  {
    absl::MutexLock lock(&mutex_);
    ended = end_.has_value();
  }
  // The book ignores the end of a session that it has not seen begin.
  if (ended) env_.book.Disconnect(identity.node_name, number);
  Advance(std::nullopt);
  return !ended;
}

void AgentStream::OnAck(const kswapd::v1alpha1::SpecAck& ack) {
  PushProtocol::AckResult result;
  std::string node;
  {
    absl::MutexLock lock(&mutex_);
    result = protocol_.OnAck(ack);
    node = identity_.node_name;
  }
  switch (result.answer) {
    case PushProtocol::Answer::kStale:
      return;
    case PushProtocol::Answer::kAck:
      env_.metrics.CountAck();
      if (result.changed_at.has_value()) {
        env_.metrics.ObserveApplyLatency(env_.clock.Monotonic() - *result.changed_at);
      }
      break;
    case PushProtocol::Answer::kNack:
      env_.metrics.CountNack();
      LogWarning("spec refused", {{"node", node},
                                  {"version", result.version},
                                  {"error", Shorten(ack.error(), kMaxMessageBytes)}});
      break;
  }
  Advance(std::nullopt);
}

void AgentStream::PlanChanged(absl::Duration changed_at) { Advance(changed_at); }

void AgentStream::Advance(std::optional<absl::Duration> changed_at) {
  absl::MutexLock lock(&mutex_);
  if (end_.has_value() || number_ == 0) return;
  // Both under the lock: of two threads here, the later one fetches the newer plan, and what it
  // says to the book is the last word. The one that pushed may be overtaken by the one that has the
  // agent's answer to it.
  protocol_.SetDesired(env_.sessions.PlanFor(identity_.node_name), changed_at);
  SendIfDue();
  env_.book.SetRefusal(identity_.node_name, number_, protocol_.refusal());
}

void AgentStream::SendIfDue() {
  if (writing_ || end_.has_value()) return;
  auto push = protocol_.Next();
  if (!push.has_value()) return;
  *outgoing_.mutable_push() = *std::move(push);
  writing_ = true;
  env_.metrics.CountPush();
  StartWrite(&outgoing_);
}

void AgentStream::OnWriteDone(bool ok) {
  bool failed = false;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    failed = !ok && !end_.has_value();
    if (!failed) {
      SendIfDue();
      FinishIfDue();
    }
  }
  if (failed) End({grpc::StatusCode::UNAVAILABLE, "the agent cannot be written to"});
}

void AgentStream::End(const grpc::Status& status) {
  std::string node;
  uint64_t number;
  {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    end_ = status;
    node = identity_.node_name;
    number = number_;
    FinishIfDue();
  }
  if (number == 0) return;
  env_.sessions.Close(node, number);
  env_.book.Disconnect(node, number);
  LogInfo("agent disconnected",
          {{"node", node}, {"code", status.error_code()}, {"message", status.error_message()}});
}

void AgentStream::FinishIfDue() {
  // gRPC takes the end of a stream only after the last write.
  if (!end_.has_value() || finished_ || writing_) return;
  finished_ = true;
  Finish(*end_);
}

void AgentStream::OnCancel() { End(grpc::Status::CANCELLED); }

void AgentStream::OnDone() {
  // Destroys the stream unless somebody still holds it.
  std::shared_ptr<AgentStream> last = std::move(self_);
}

}  // namespace reclaim::op
