// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/agent_metrics.h"

#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {

AgentMetrics::AgentMetrics(prometheus::Registry& registry)
    : pushes_(CounterOf(registry, rows::kPushes)),
      acks_(CounterOf(registry, rows::kAcks)),
      nacks_(CounterOf(registry, rows::kNacks)),
      handshake_failures_(CounterOf(registry, rows::kHandshakeFailures)),
      apply_latency_(HistogramOf(registry, rows::kApplyLatency)),
      token_review_(HistogramOf(registry, rows::kTokenReviewSeconds)) {
  for (RejectionReason reason : kAllRejectionReasons) {
    rejections_[reason] = &CounterOf(registry, rows::kStreamsRejected, {RejectionLabel(reason)});
  }
}

}  // namespace reclaim::op
