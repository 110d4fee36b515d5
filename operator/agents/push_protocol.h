// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_PUSH_PROTOCOL_H_
#define RECLAIM_OPERATOR_AGENTS_PUSH_PROTOCOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "kswapd/v1alpha1/agent.pb.h"
#include "operator/policy/world.h"

namespace reclaim::op {

// What to send on one stream and when: the version/ACK protocol of agent.proto.
//
// - Nothing before the Hello.
// - At most one push is not acknowledged; meanwhile a newer spec takes the place of an older one.
// - A version that the agent has applied is not sent; one that it refused is not sent again on this
//   stream.
// - While there is no desired spec (hold) nothing is said.
//
// A state machine without I/O, clock or lock; not thread-safe.
class PushProtocol {
 public:
  // `nonce_prefix` makes nonces unique among streams.
  explicit PushProtocol(std::string nonce_prefix) : nonce_prefix_(std::move(nonce_prefix)) {}

  // `applied_version`: what the agent runs, empty for nothing.
  void OnHello(const std::string& applied_version);

  // What the node should run from now on; null means hold.
  //   changed_at  when the change was seen (Clock::Monotonic); none when there was no change, only
  //               a stream that began. A change begins with a hold until its release has been
  //               written: when that takes less than kReleaseTakes the change is as old as the
  //               hold.
  static constexpr absl::Duration kReleaseTakes = absl::Seconds(10);
  void SetDesired(std::shared_ptr<const ServedSpec> desired,
                  std::optional<absl::Duration> changed_at);

  // The push to send now, if any; it counts as sent.
  std::optional<kswapd::v1alpha1::SpecPush> Next();

  enum class Answer { kAck, kNack, kStale };
  struct AckResult {
    Answer answer;
    std::string version;
    // Of the change that the push brought, if it brought one.
    std::optional<absl::Duration> changed_at;
  };
  // A nonce that is not that of the push under way is stale and changes nothing.
  AckResult OnAck(const kswapd::v1alpha1::SpecAck& ack);

  // Why the agent refused the desired spec; empty when it did not (yet).
  const std::string& refusal() const;

 private:
  struct InFlight {
    std::string version;
    std::string nonce;
    std::optional<absl::Duration> changed_at;
  };

  std::string nonce_prefix_;
  uint64_t pushes_ = 0;
  bool hello_ = false;
  std::shared_ptr<const ServedSpec> desired_;
  std::optional<absl::Duration> changed_at_;
  std::string applied_version_;
  std::string refused_version_;
  std::string refusal_;
  std::optional<InFlight> in_flight_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_PUSH_PROTOCOL_H_
