// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_LINK_OPERATOR_LINK_H_
#define RECLAIM_NODE_AGENT_LINK_OPERATOR_LINK_H_

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "node-agent/link/link_stats.h"
#include "node-agent/link/operator_credentials.h"
#include "node-agent/spec_update.h"

namespace reclaim::agent {

class AgentStream;

// Keeps one stream to the operator open, for as long as the process lives: connects with TLS and
// the node's token, both read anew each time, hands every good spec on, and sends the newest
// status.
//
// Threads: one that waits for the stream's end and connects again, and gRPC's. All methods are
// thread-safe.
class OperatorLink {
 public:
  struct Options {
    std::string address;
    std::string server_name;  // empty: the host of `address`
    std::string ca_file;
    std::string token_file;
    std::string agent_version;
    // What this node calls itself; the operator refuses a token of a pod on another node.
    std::string node_name;
    // Wait before try number `failures`; a test makes it short.
    std::function<absl::Duration(int failures)> delay;
  };
  OperatorLink(Options options, Clock& clock);
  ~OperatorLink() { Stop(); }
  OperatorLink(const OperatorLink&) = delete;
  OperatorLink& operator=(const OperatorLink&) = delete;

  // `on_spec` is called on gRPC's threads and must not block.
  void Start(std::function<void(SpecUpdate)> on_spec);
  // Cancels the stream. Idempotent.
  void Stop();

  // What to tell the operator, and the version of the spec that it is about. Newest wins.
  void SetStatus(const kswapd::v1alpha1::NodeReclaimStatus& status, const std::string& version);

  LinkStats Stats() const;
  // Waits until `holds` of the counters, at most `patience`; false when it never did.
  bool AwaitStatsForTest(const std::function<bool(const LinkStats&)>& holds,
                         absl::Duration patience) const;

  // The CA and the token appear when the kubelet has mounted them; to look costs nothing.
  static constexpr absl::Duration kCredentialsInterval = absl::Seconds(1);
  // A stream that lasted this long was a good one: the next delay is short again.
  static constexpr absl::Duration kLasted = absl::Seconds(30);

 private:
  void Run();
  // One try, until the stream has ended. False: there was nothing to try with yet.
  bool RunStream();
  std::shared_ptr<AgentStream> NewStream();
  void NoteEnd(const std::string& code, const std::string& message);
  bool WaitOrStop(absl::Duration time);

  const Options options_;
  Clock& clock_;
  std::function<void(SpecUpdate)> on_spec_;
  std::thread thread_;

  mutable absl::Mutex mutex_;
  LinkStats stats_ ABSL_GUARDED_BY(mutex_);
  std::string last_error_ ABSL_GUARDED_BY(mutex_);
  std::optional<kswapd::v1alpha1::NodeReclaimStatus> status_ ABSL_GUARDED_BY(mutex_);
  std::string applied_version_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<AgentStream> stream_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_LINK_OPERATOR_LINK_H_
