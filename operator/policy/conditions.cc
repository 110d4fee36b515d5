// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/conditions.h"

#include "operator/policy/content_hash.h"
#include "operator/policy/rollout.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::Condition;

template <typename Status>
bool EqualWithoutTimes(Status& a, Status& b) {
  for (Status* status : {&a, &b}) {
    for (Condition& condition : *status->mutable_conditions()) {
      condition.clear_last_transition_time();
    }
  }
  return SerializeDeterministically(a) == SerializeDeterministically(b);
}

}  // namespace

const Condition* FindCondition(const Conditions& conditions, absl::string_view type) {
  for (const Condition& condition : conditions) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

bool HasStatus(const Conditions& conditions, absl::string_view type, absl::string_view status) {
  const Condition* condition = FindCondition(conditions, type);
  return condition != nullptr && condition->status() == status;
}

Condition& AddCondition(Conditions& conditions, absl::string_view type, absl::string_view status,
                        absl::string_view reason, absl::string_view message) {
  Condition& condition = *conditions.Add();
  condition.set_type(std::string(type));
  condition.set_status(std::string(status));
  condition.set_reason(std::string(reason));
  condition.set_message(Shorten(message, kMaxMessageBytes));
  return condition;
}

void SetTransitionTimes(const Conditions& before, absl::Time now, Conditions& conditions) {
  for (Condition& condition : conditions) {
    const Condition* old = FindCondition(before, condition.type());
    const bool unchanged = old != nullptr && old->status() == condition.status() &&
                           !old->last_transition_time().empty();
    condition.set_last_transition_time(unchanged ? old->last_transition_time()
                                                 : FormatTimestamp(now));
  }
}

bool SaysTheSame(kswapd::v1alpha1::ReclaimPolicyStatus a, kswapd::v1alpha1::ReclaimPolicyStatus b) {
  return EqualWithoutTimes(a, b);
}

bool SaysTheSame(kswapd::v1alpha1::NodeReclaimStatus a, kswapd::v1alpha1::NodeReclaimStatus b) {
  return EqualWithoutTimes(a, b);
}

std::string Shorten(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  constexpr absl::string_view kEllipsis = "…";
  size_t end = max_bytes - kEllipsis.size();
  // 10xxxxxx continues a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

}  // namespace reclaim::op
