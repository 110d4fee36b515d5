// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/world.h"

#include <algorithm>
#include <tuple>

#include "operator/policy/content_hash.h"
#include "operator/policy/resolve.h"

namespace reclaim::op {

std::shared_ptr<const World> World::Build(std::vector<Policy> policies,
                                          const std::vector<std::shared_ptr<const Node>>& nodes,
                                          const World* before) {
  auto world = std::make_shared<World>();
  std::sort(policies.begin(), policies.end(),
            [](const Policy& a, const Policy& b) { return a.name < b.name; });
  world->policies_ = std::move(policies);
  for (const Policy& policy : world->policies_) world->policy_plans_[policy.name];

  // Serializing is the costly part and its input is nearly always the same.
  using Content = std::tuple<const Policy*, std::string, std::string>;
  std::map<Content, std::shared_ptr<const ServedSpec>> serialized;
  const auto serve = [&](const Decision& decision) {
    auto& spec = serialized[{decision.winner, decision.reason, decision.message}];
    if (spec != nullptr) return spec;
    std::string bytes = SerializeDeterministically(MakeNodeSpec(decision));
    std::string version = ContentHash(bytes);
    auto& shared = world->specs_[version];
    if (shared == nullptr && before != nullptr) {
      const auto old = before->specs_.find(version);
      if (old != before->specs_.end()) shared = old->second;
    }
    if (shared == nullptr) {
      shared = std::make_shared<const ServedSpec>(ServedSpec{version, std::move(bytes)});
    }
    spec = shared;
    return spec;
  };

  for (const auto& node : nodes) {
    const Decision decision = Resolve(world->policies_, *node);
    NodePlan& plan = world->nodes_[node->name];
    plan.uid = node->uid;
    if (decision.kind == Decision::Kind::kHold) {
      plan.hold_reason = decision.hold_reason;
    } else {
      plan.spec = serve(decision);
    }
    if (decision.winner == nullptr) continue;
    plan.policy = decision.winner->name;
    PolicyPlan& winner = world->policy_plans_[decision.winner->name];
    winner.nodes.push_back(node->name);
    for (const Policy* other : decision.tied) {
      ++winner.tied[other->name];
      ++world->policy_plans_[other->name].tied[decision.winner->name];
    }
  }
  for (auto& [name, plan] : world->policy_plans_) std::sort(plan.nodes.begin(), plan.nodes.end());
  return world;
}

const NodePlan* World::FindNode(absl::string_view name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

const Policy* World::FindPolicy(absl::string_view name) const {
  const auto it = std::lower_bound(
      policies_.begin(), policies_.end(), name,
      [](const Policy& policy, absl::string_view wanted) { return policy.name < wanted; });
  return it == policies_.end() || it->name != name ? nullptr : &*it;
}

const PolicyPlan* World::FindPolicyPlan(absl::string_view name) const {
  const auto it = policy_plans_.find(name);
  return it == policy_plans_.end() ? nullptr : &it->second;
}

std::vector<std::string> ChangedNodes(const World* before, const World& after) {
  std::vector<std::string> changed;
  for (const auto& [name, plan] : after.nodes()) {
    const NodePlan* old = before == nullptr ? nullptr : before->FindNode(name);
    const bool same = old != nullptr && old->uid == plan.uid && old->spec == plan.spec;
    if (!same) changed.push_back(name);
  }
  if (before != nullptr) {
    for (const auto& [name, plan] : before->nodes()) {
      if (after.FindNode(name) == nullptr) changed.push_back(name);
    }
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

std::vector<std::string> ChangedPolicies(const World* before, const World& after) {
  std::vector<std::string> changed;
  for (const Policy& policy : after.policies()) {
    const Policy* old = before == nullptr ? nullptr : before->FindPolicy(policy.name);
    const PolicyPlan& plan = *after.FindPolicyPlan(policy.name);
    const bool same =
        old != nullptr && old->uid == policy.uid && old->generation == policy.generation &&
        SerializeDeterministically(old->status) == SerializeDeterministically(policy.status) &&
        before->FindPolicyPlan(policy.name)->nodes == plan.nodes &&
        before->FindPolicyPlan(policy.name)->tied == plan.tied;
    if (!same) changed.push_back(policy.name);
  }
  return changed;
}

}  // namespace reclaim::op
