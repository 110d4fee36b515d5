// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_CONDITIONS_H_
#define RECLAIM_OPERATOR_POLICY_CONDITIONS_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kswapd/v1alpha1/condition.pb.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::op {

// All pure.

using Conditions = google::protobuf::RepeatedPtrField<kswapd::v1alpha1::Condition>;

// The API servers of our CRDs refuse longer messages.
inline constexpr size_t kMaxMessageBytes = 1024;

// nullptr when there is none of that type.
const kswapd::v1alpha1::Condition* FindCondition(const Conditions& conditions,
                                                 absl::string_view type);

// Whether the condition is there and has this status ("True", "False", "Unknown").
bool HasStatus(const Conditions& conditions, absl::string_view type, absl::string_view status);

// Appends a condition; lastTransitionTime is left to SetTransitionTimes.
kswapd::v1alpha1::Condition& AddCondition(Conditions& conditions, absl::string_view type,
                                          absl::string_view status, absl::string_view reason,
                                          absl::string_view message);

// Gives each condition the time at which its status became what it is: that of `before` when the
// status is the same there, else `now`.
void SetTransitionTimes(const Conditions& before, absl::Time now, Conditions& conditions);

// Whether two statuses say the same; only lastTransitionTime may differ. A write of an equal status
// would wake its own writer.
bool SaysTheSame(kswapd::v1alpha1::ReclaimPolicyStatus a, kswapd::v1alpha1::ReclaimPolicyStatus b);
bool SaysTheSame(kswapd::v1alpha1::NodeReclaimStatus a, kswapd::v1alpha1::NodeReclaimStatus b);

// At most `max_bytes` of `text`, cut between characters and marked with "…".
std::string Shorten(absl::string_view text, size_t max_bytes);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_CONDITIONS_H_
