// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_CONTENT_HASH_H_
#define RECLAIM_OPERATOR_POLICY_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::op {

// All pure.

// The first 64 bits of SHA-256 as 16 hexadecimal digits.
std::string ContentHash(absl::string_view bytes);

// Bytes that are equal when the messages are: maps in the order of their keys.
std::string SerializeDeterministically(const google::protobuf::MessageLite& message);

// What of a policy concerns a node: the spec without the fields that say which nodes and when
// (nodeSelector, priority, paused, rollout.steps, rollout.onFailure), defaults filled in, and empty
// groups (`kswapd: {}`) left out.
kswapd::v1alpha1::ReclaimPolicySpec NodePart(const kswapd::v1alpha1::ReclaimPolicySpec& spec);

// Name of the content that a rollout moves from node to node: the hash of NodePart without the
// gates. So a change of selection, order or gates starts no rollout.
std::string RevisionOf(const kswapd::v1alpha1::ReclaimPolicySpec& spec);

// Every place is below this threshold: the whole fleet.
inline constexpr int32_t kWholeFleet = 2147483647;

// A node's place in the order in which a policy reaches nodes: uniform in [0, kWholeFleet), the
// same for ever, and different from policy to policy so that not always the same nodes go first.
int32_t PlaceOf(absl::string_view policy_uid, absl::string_view node_uid);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_CONTENT_HASH_H_
