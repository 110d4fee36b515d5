// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_POLICY_H_
#define RECLAIM_OPERATOR_POLICY_POLICY_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::op {

// A ReclaimPolicy as the decisions see it: what the admin wrote, and how far it has been released.
struct Policy {
  std::string name;
  std::string uid;
  int32_t generation = 0;
  absl::Time created = absl::UnixEpoch();
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  // RevisionOf(spec).
  std::string revision;
  // As last written. status.rollout is the only memory of what has been released; an empty
  // update_revision means that nothing has been yet, and then the policy takes part in nothing.
  kswapd::v1alpha1::ReclaimPolicyStatus status;
  // Why `spec` cannot be used, in a sentence that names the field; empty when it can.
  std::string invalid;
};

// What is kept of a Node.
struct Node {
  std::string name;
  std::string uid;
  absl::flat_hash_map<std::string, std::string> labels;
  std::string zone;
  bool ready = false;
  bool unschedulable = false;

  friend bool operator==(const Node& a, const Node& b) {
    return a.name == b.name && a.uid == b.uid && a.labels == b.labels && a.zone == b.zone &&
           a.ready == b.ready && a.unschedulable == b.unschedulable;
  }
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_POLICY_H_
