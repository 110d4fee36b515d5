// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/rollout.h"

#include "common/reasons.h"
#include "operator/policy/content_hash.h"

namespace reclaim::op {

std::string FormatTimestamp(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

const char* WhyNotReleased(const Policy& policy) {
  if (!policy.invalid.empty()) return reason::kInvalidSpec;
  if (policy.spec.rollout().steps_size() > 0) return reason::kNotImplemented;
  if (policy.spec.paused()) return reason::kPaused;
  return nullptr;
}

kswapd::v1alpha1::RolloutStatus NextRollout(const Policy& policy,
                                            const kswapd::v1alpha1::NodeCounts& counts,
                                            absl::Time now) {
  kswapd::v1alpha1::RolloutStatus next = policy.status.rollout();
  const bool stands_still = !policy.invalid.empty() || policy.spec.paused();
  if (!stands_still && next.update_revision() != policy.revision) {
    if (WhyNotReleased(policy) == nullptr) {
      if (next.current_revision().empty()) next.set_current_revision(policy.revision);
      next.set_update_revision(policy.revision);
      next.set_since(FormatTimestamp(now));
    }
  } else if (!stands_still && counts.updated() == counts.matched()) {
    next.set_current_revision(next.update_revision());
  }
  // The one step that there is. Said each time: whatever else stands there is not ours.
  if (!stands_still && !next.update_revision().empty()) {
    next.set_step(0);
    next.set_threshold(kWholeFleet);
  }
  return next;
}

}  // namespace reclaim::op
