// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_OBJECTS_H_
#define RECLAIM_OPERATOR_CONTROLLERS_OBJECTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "kswapd/v1alpha1/policy.pb.h"
#include "kube/json.h"
#include "kube/resource.h"
#include "operator/policy/policy.h"

// Between the objects of the Kubernetes API and the structs of policy/. Pure.
namespace reclaim::op {

const kube::GroupVersionResource& ReclaimPolicies();
const kube::GroupVersionResource& NodeReclaims();

// A policy with the API's bookkeeping.
struct StoredPolicy {
  Policy policy;
  std::string resource_version;
};

// What is kept of a NodeReclaim.
struct NodeReclaim {
  std::string name;
  std::string uid;
  std::string owner_uid;  // of the Node that owns it; empty: no owner
  std::string resource_version;
  kswapd::v1alpha1::NodeReclaimStatus status;
};

// A spec that this version cannot read as a whole, or that breaks the rules of
// common/policy_validate, gives a policy with `invalid` set: it still selects its nodes. That is so
// too when it has a field or a value of a newer API: left out, `mode` would be Enforce. In a status
// what is not known is left out. kInvalidArgument only when not even nodeSelector and priority can
// be read.
absl::StatusOr<StoredPolicy> ProjectPolicy(const kube::Json& object);
absl::StatusOr<Node> ProjectNode(const kube::Json& object);
// A status that cannot be read counts as empty, and will be written anew.
absl::StatusOr<NodeReclaim> ProjectNodeReclaim(const kube::Json& object);

// The full intents of our field managers, for server-side apply.
kube::Json MakeNodeReclaim(const Node& owner);
kube::Json MakeNodeReclaimStatus(absl::string_view name,
                                 const kswapd::v1alpha1::NodeReclaimStatus& status);
// `uid` makes the server refuse a write to a policy that was deleted and made again.
kube::Json MakePolicyStatus(absl::string_view name, absl::string_view uid,
                            const kswapd::v1alpha1::ReclaimPolicyStatus& status);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_OBJECTS_H_
