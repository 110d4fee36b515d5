// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_AGENT_SESSIONS_H_
#define RECLAIM_OPERATOR_AGENTS_AGENT_SESSIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "operator/agents/rejection.h"
#include "operator/policy/world.h"

namespace reclaim::op {

// What AgentSessions needs of a stream. Both are thread-safe and must not block.
class AgentSession {
 public:
  virtual ~AgentSession() = default;

  // The node's plan in the current world is another one: ask AgentSessions::PlanFor again.
  //   changed_at  when the change was seen (Clock::Monotonic)
  virtual void PlanChanged(absl::Duration changed_at) = 0;

  // Ends the stream with this status; a second time does nothing.
  virtual void End(const grpc::Status& status) = 0;
};

// Which stream serves which node, and the world that all of them serve. Streams are told that there
// is news and fetch it themselves, so that the newest is sent whatever the order in which threads
// run.
//
// Thread-safe. Calls sessions only without its lock held; sessions may call it with theirs held.
class AgentSessions {
 public:
  // Makes `world` the current one, pokes the streams of `changed` and ends those whose node is gone
  // or was replaced by another of the same name.
  void Publish(std::shared_ptr<const World> world, const std::vector<std::string>& changed,
               absl::Duration changed_at);

  // A stream has proved its identity and said Hello: it becomes the node's stream and the one
  // before it, if any, is ended. Returns the session's number (larger than any before), or why not:
  // the node is unknown.
  std::variant<uint64_t, Rejection> Open(const AgentIdentity& identity,
                                         const std::shared_ptr<AgentSession>& session);

  // The session is over. Does nothing when another has taken the node over.
  void Close(absl::string_view node, uint64_t number);

  // The node's spec in the current world; null: hold, or no such node.
  std::shared_ptr<const ServedSpec> PlanFor(absl::string_view node) const;

  std::shared_ptr<const World> world() const;

  // Ends every stream, and from now on every one that opens; for the end of the process.
  void EndAll(const grpc::Status& status);

 private:
  struct Slot {
    uint64_t number;
    std::string node_uid;
    std::shared_ptr<AgentSession> session;
  };

  mutable absl::Mutex mutex_;
  std::shared_ptr<const World> world_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Slot> slots_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<grpc::Status> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_AGENT_SESSIONS_H_
