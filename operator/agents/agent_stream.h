// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_AGENT_STREAM_H_
#define RECLAIM_OPERATOR_AGENTS_AGENT_STREAM_H_

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "kswapd/v1alpha1/agent.pb.h"
#include "operator/agents/agent_book.h"
#include "operator/agents/agent_sessions.h"
#include "operator/agents/push_protocol.h"
#include "operator/agents/rejection.h"
#include "operator/agents/review_pool.h"
#include "operator/metrics/agent_metrics.h"

namespace reclaim::op {

// What every stream needs; all of it outlives the server.
struct StreamEnvironment {
  std::string agent_user;  // "system:serviceaccount:NAMESPACE:NAME", the only one that is served
  ReviewPool& reviews;
  AgentSessions& sessions;
  AgentBook& book;
  AgentMetrics& metrics;
  Clock& clock;
};

// One agent's stream, from its first byte to its end:
//
//   review of the token ─► Hello ─► serving: pushes out, acknowledgements and status in ─► end
//
// Lives until gRPC is done with it and nobody else holds it. Reactions and public functions may run
// on any thread; each is short and none blocks.
class AgentStream final : public grpc::ServerBidiReactor<kswapd::v1alpha1::AgentMessage,
                                                         kswapd::v1alpha1::OperatorMessage>,
                          public AgentSession,
                          public std::enable_shared_from_this<AgentStream> {
 public:
  // Starts with the value of the `authorization` metadata, "" when there is none. gRPC owns it
  // until OnDone.
  static AgentStream* Start(const StreamEnvironment& environment, absl::string_view authorization);

  // AgentSession.
  void PlanChanged(absl::Duration changed_at) override;
  void End(const grpc::Status& status) override;

  // grpc::ServerBidiReactor.
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  explicit AgentStream(const StreamEnvironment& environment) : env_(environment), protocol_("") {}

  void OnReviewed(const absl::StatusOr<kube::TokenIdentity>& review);
  void Reject(const Rejection& rejection);
  // Each handles one message; false: the stream was ended.
  bool OnMessage();
  bool OnHello(const kswapd::v1alpha1::Hello& hello);
  void OnAck(const kswapd::v1alpha1::SpecAck& ack);
  // Fetches the plan, sends a push when one is due, and says what the agent refuses.
  void Advance(std::optional<absl::Duration> changed_at);
  void SendIfDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishIfDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const StreamEnvironment& env_;
  // Holds the stream from Start to OnDone.
  std::shared_ptr<AgentStream> self_;
  // Written by the one read that is under way.
  kswapd::v1alpha1::AgentMessage incoming_;

  absl::Mutex mutex_;
  AgentIdentity identity_ ABSL_GUARDED_BY(mutex_);
  uint64_t number_ ABSL_GUARDED_BY(mutex_) = 0;  // of the session; 0 before the Hello
  PushProtocol protocol_ ABSL_GUARDED_BY(mutex_);
  kswapd::v1alpha1::OperatorMessage outgoing_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);  // set once: nothing starts any more
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_AGENT_STREAM_H_
