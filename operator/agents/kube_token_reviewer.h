// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_KUBE_TOKEN_REVIEWER_H_
#define RECLAIM_OPERATOR_AGENTS_KUBE_TOKEN_REVIEWER_H_

#include "common/agent_api.h"
#include "common/clock.h"
#include "kube/client.h"
#include "operator/agents/review_pool.h"
#include "operator/metrics/agent_metrics.h"

namespace reclaim::op {

// Reviews tokens with the API server, for the agents' audience. References must outlive it.
class KubeTokenReviewer final : public TokenReviewer {
 public:
  KubeTokenReviewer(kube::Client& client, Clock& clock, AgentMetrics& metrics)
      : client_(client), clock_(clock), metrics_(metrics) {}

  absl::StatusOr<kube::TokenIdentity> Review(absl::string_view token) override {
    const absl::Duration begin = clock_.Monotonic();
    auto identity = kube::ReviewToken(client_, token, kAgentTokenAudience);
    metrics_.ObserveTokenReview(clock_.Monotonic() - begin);
    return identity;
  }

 private:
  kube::Client& client_;
  Clock& clock_;
  AgentMetrics& metrics_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_KUBE_TOKEN_REVIEWER_H_
