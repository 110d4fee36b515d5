// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_AGENT_BOOK_H_
#define RECLAIM_OPERATOR_AGENTS_AGENT_BOOK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "operator/policy/node_status.h"

namespace reclaim::op {

struct AgentBookOptions {
  // A stream that is gone for less is no news: an agent that restarts takes a few seconds.
  absl::Duration disconnect_grace = absl::Seconds(15);
  // A node that has not had a stream since the operator started, or since it joined, is given this
  // long: agents come back with a back-off of up to 60 s and jitter.
  absl::Duration first_connect_grace = absl::Seconds(120);
};

// What is known of every node's agent: whether it has a stream, its last report, its last refusal.
// In memory only; it is the source of NodeReclaim.status and is filled anew after a restart.
//
// A node has one session at a time, the newest; what an older one still says is ignored.
//
// Thread-safe. `changed` is called without the lock when a status may have to be written after
// `delay` (zero: now).
class AgentBook {
 public:
  using Changed = std::function<void(absl::string_view node, absl::Duration delay)>;

  AgentBook(Clock& clock, Changed changed, const AgentBookOptions& options = {});

  // The node exists; its grace begins.
  void AddNode(absl::string_view node);
  // The node is gone; all is forgotten.
  void RemoveNode(absl::string_view node);

  // A stream has said Hello. `session` is larger than that of every stream before it.
  void Connect(absl::string_view node, uint64_t session);
  void Report(absl::string_view node, uint64_t session, kswapd::v1alpha1::NodeReclaimStatus status);
  // `refusal` empty: the agent refuses nothing.
  void SetRefusal(absl::string_view node, uint64_t session, absl::string_view refusal);
  void Disconnect(absl::string_view node, uint64_t session);

  struct Entry {
    AgentObservation observation;
    // While the link is unsettled: when it will no longer be.
    absl::Duration settles_in = absl::ZeroDuration();
  };
  Entry Find(absl::string_view node) const;

  // Nodes whose agent has a stream.
  int connected() const;

 private:
  struct State {
    uint64_t session = 0;  // newest; 0: none yet
    bool connected = false;
    absl::Duration settled_at;  // Clock::Monotonic; while not connected
    std::shared_ptr<const kswapd::v1alpha1::NodeReclaimStatus> report;
    std::string refusal;
  };

  // Runs `change` on the state when `session` is the node's newest; true = it did and there was
  // one.
  bool Change(absl::string_view node, uint64_t session, absl::FunctionRef<bool(State&)> change);

  Clock& clock_;
  const Changed changed_;
  const AgentBookOptions options_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, State> nodes_ ABSL_GUARDED_BY(mutex_);
  int connected_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_AGENT_BOOK_H_
