// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/caches.h"

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

namespace reclaim::op {

Caches::Caches(kube::Client& client, Clock& clock)
    : policies(ProjectPolicy),
      nodes(ProjectNode),
      node_reclaims(ProjectNodeReclaim),
      policy_reflector_(client, {.resource = ReclaimPolicies()}, policies, clock),
      node_reflector_(client, {.resource = kube::Nodes()}, nodes, clock),
      node_reclaim_reflector_(client, {.resource = NodeReclaims()}, node_reclaims, clock) {}

void Caches::Start() {
  policy_reflector_.Start();
  node_reflector_.Start();
  node_reclaim_reflector_.Start();
}

void Caches::Stop() {
  policy_reflector_.Stop();
  node_reflector_.Stop();
  node_reclaim_reflector_.Stop();
}

bool Caches::HasSynced() const {
  return policy_reflector_.HasSynced() && node_reflector_.HasSynced() &&
         node_reclaim_reflector_.HasSynced();
}

std::string Caches::Missing() const {
  std::vector<std::string> missing;
  for (const Cache& cache : Stats()) {
    if (!cache.stats.synced) missing.push_back(cache.resource);
  }
  return absl::StrJoin(missing, ", ");
}

bool Caches::WaitForSync(absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  for (const kube::Reflector* reflector :
       {&policy_reflector_, &node_reflector_, &node_reclaim_reflector_}) {
    if (!reflector->WaitForSync(deadline - absl::Now())) return false;
  }
  return true;
}

std::vector<Caches::Cache> Caches::Stats() const {
  return {{"reclaimpolicies", policy_reflector_.stats(), policies.size(),
           policies.projection_failures()},
          {"nodes", node_reflector_.stats(), nodes.size(), nodes.projection_failures()},
          {"nodereclaims", node_reclaim_reflector_.stats(), node_reclaims.size(),
           node_reclaims.projection_failures()}};
}

}  // namespace reclaim::op
