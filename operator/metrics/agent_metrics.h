// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_METRICS_AGENT_METRICS_H_
#define RECLAIM_OPERATOR_METRICS_AGENT_METRICS_H_

#include <map>

#include "absl/time/time.h"
#include "operator/agents/rejection.h"
#include "prometheus/counter.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// What the agents' server counts. Every series exists from the start, with 0. Thread-safe.
class AgentMetrics {
 public:
  explicit AgentMetrics(prometheus::Registry& registry);

  void CountPush() { pushes_.Increment(); }
  void CountAck() { acks_.Increment(); }
  void CountNack() { nacks_.Increment(); }
  void CountRejection(RejectionReason reason) { rejections_.at(reason)->Increment(); }
  void CountHandshakeFailure() { handshake_failures_.Increment(); }
  void ObserveApplyLatency(absl::Duration latency) {
    apply_latency_.Observe(absl::ToDoubleSeconds(latency));
  }
  void ObserveTokenReview(absl::Duration took) {
    token_review_.Observe(absl::ToDoubleSeconds(took));
  }

  // For tests.
  double pushes() const { return pushes_.Value(); }
  double nacks() const { return nacks_.Value(); }
  double rejections(RejectionReason reason) const { return rejections_.at(reason)->Value(); }
  double handshake_failures() const { return handshake_failures_.Value(); }

 private:
  prometheus::Counter& pushes_;
  prometheus::Counter& acks_;
  prometheus::Counter& nacks_;
  prometheus::Counter& handshake_failures_;
  prometheus::Histogram& apply_latency_;
  prometheus::Histogram& token_review_;
  std::map<RejectionReason, prometheus::Counter*> rejections_;  // complete, never changes
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_METRICS_AGENT_METRICS_H_
