// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_LINK_AGENT_STREAM_H_
#define RECLAIM_NODE_AGENT_LINK_AGENT_STREAM_H_

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/grpcpp.h"
#include "kswapd/v1alpha1/agent.grpc.pb.h"
#include "node-agent/spec_update.h"

namespace reclaim::agent {

// One stream to the operator, from Hello to its end: decodes pushes, answers each with ACK once it
// has been applied or with NACK at once, and sends the newest status whenever it differs from what
// this stream sent last.
//
// Threads: gRPC calls the On… methods; the others may be called from any thread.
class AgentStream : public grpc::ClientBidiReactor<kswapd::v1alpha1::AgentMessage,
                                                   kswapd::v1alpha1::OperatorMessage> {
 public:
  // Called on gRPC's threads; must not block.
  struct Events {
    std::function<void()> connected;  // the operator has accepted the stream
    std::function<void(SpecUpdate)> accepted;
    std::function<void(const std::string& version, const std::string& error)> refused;
    std::function<void()> status_sent;
  };
  explicit AgentStream(Events events) : events_(std::move(events)) {}

  // Starts the call; once, before all others.
  void Begin(kswapd::v1alpha1::NodeAgentService::Stub& stub, const std::string& token,
             kswapd::v1alpha1::Hello hello);

  // What to send with the next Flush: the newest status, and before it the ACK of a push whose
  // version is the one that the status is about. In two steps, because a caller that orders its
  // statuses by a mutex must not hold it when gRPC is called, which may call back.
  void StageStatus(const kswapd::v1alpha1::NodeReclaimStatus& status, const std::string& version);
  // Starts the next write if none is in flight. Does nothing once the stream has ended.
  void Flush();

  // Ends the stream with CANCELLED.
  void Cancel() { context_.TryCancel(); }

  // Waits for the end and returns how it came. Must be called before the stream is destroyed.
  grpc::Status AwaitDone();

  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void Answer(const kswapd::v1alpha1::SpecPush& push);
  void NoteConnected();
  bool TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool TakeRelease() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Events events_;
  grpc::ClientContext context_;
  kswapd::v1alpha1::OperatorMessage incoming_;  // of the one read in flight
  kswapd::v1alpha1::AgentMessage outgoing_;     // of the one write in flight

  absl::Mutex mutex_;
  bool connected_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // no further writes
  bool read_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool held_ ABSL_GUARDED_BY(mutex_) = true;
  std::deque<kswapd::v1alpha1::AgentMessage> answers_ ABSL_GUARDED_BY(mutex_);
  std::optional<kswapd::v1alpha1::SpecAck> unapplied_ ABSL_GUARDED_BY(mutex_);  // owed
  std::optional<kswapd::v1alpha1::NodeReclaimStatus> status_ ABSL_GUARDED_BY(mutex_);
  std::string sent_status_ ABSL_GUARDED_BY(mutex_);  // serialized
  std::optional<grpc::Status> done_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_LINK_AGENT_STREAM_H_
