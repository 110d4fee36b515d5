// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_WORLD_H_
#define RECLAIM_OPERATOR_POLICY_WORLD_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "operator/policy/policy.h"

namespace reclaim::op {

// A NodeSpec as it travels. One object for all nodes that run the same.
struct ServedSpec {
  std::string version;    // ContentHash(node_spec)
  std::string node_spec;  // serialized kswapd.v1alpha1.NodeSpec
};

// What one node should run.
struct NodePlan {
  std::string uid;
  std::string policy;  // in force; empty: none
  // Null: hold, nothing is said and the node keeps what it has.
  std::shared_ptr<const ServedSpec> spec;
  std::string hold_reason;
};

// One policy and the nodes on which it is in force.
struct PolicyPlan {
  std::vector<std::string> nodes;   // sorted
  std::map<std::string, int> tied;  // other policies with this priority: nodes that both select
};

// Everything that was decided from one look at the caches. Immutable, so it is shared between
// threads without a lock, and a newer one takes its place as a whole.
class World {
 public:
  // Pure. `before` (may be null) only lends its ServedSpecs, so that content that stays the same
  // stays the same object.
  static std::shared_ptr<const World> Build(std::vector<Policy> policies,
                                            const std::vector<std::shared_ptr<const Node>>& nodes,
                                            const World* before);

  // nullptr: no such node.
  const NodePlan* FindNode(absl::string_view name) const;
  const Policy* FindPolicy(absl::string_view name) const;
  // nullptr: no such policy.
  const PolicyPlan* FindPolicyPlan(absl::string_view name) const;

  const std::vector<Policy>& policies() const { return policies_; }
  const absl::flat_hash_map<std::string, NodePlan>& nodes() const { return nodes_; }
  // Different specs that are being served.
  size_t spec_count() const { return specs_.size(); }

 private:
  std::vector<Policy> policies_;  // sorted by name
  absl::flat_hash_map<std::string, PolicyPlan> policy_plans_;
  absl::flat_hash_map<std::string, NodePlan> nodes_;
  absl::flat_hash_map<std::string, std::shared_ptr<const ServedSpec>> specs_;  // by version
};

// Names of the nodes whose stream must hear of it when `after` takes the place of `before` (null:
// nothing before): another spec, a hold that ends, another UID, or the node is gone. Sorted.
std::vector<std::string> ChangedNodes(const World* before, const World& after);

// Names of the policies whose status may have to be written: the policy itself, the nodes on which
// it is in force, or its ties are different. Sorted; a policy that is gone is not among them.
std::vector<std::string> ChangedPolicies(const World* before, const World& after);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_WORLD_H_
