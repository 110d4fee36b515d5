// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_NODE_RECLAIM_CONTROLLER_H_
#define RECLAIM_OPERATOR_CONTROLLERS_NODE_RECLAIM_CONTROLLER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "kube/client.h"
#include "operator/agents/agent_book.h"
#include "operator/controllers/caches.h"
#include "operator/controllers/controller.h"
#include "operator/controllers/last_written.h"
#include "operator/controllers/write_pacer.h"
#include "prometheus/registry.h"

namespace reclaim::op {

// Keeps one NodeReclaim per Node: named as it, owned by it, its status what the node's agent
// reports and whether the agent is connected. Written only on change and at a bounded rate. It is
// deleted with its Node by the garbage collector.
//
// Reconcile is the body of a Controller whose keys are node names; thread-safe for different keys.
class NodeReclaimController {
 public:
  // References must outlive it.
  NodeReclaimController(kube::Client& client, const Caches& caches, const AgentBook& book,
                        Clock& clock, prometheus::Registry& registry,
                        const WritePacerOptions& pace = {});

  absl::StatusOr<ReconcileResult> Reconcile(const std::string& node_name);

 private:
  // Makes the object, owned by `node`. `stored`, if any, is of an earlier node of that name and
  // goes.
  absl::Status EnsureObject(const Node& node, const NodeReclaim* stored);
  absl::Status WriteStatus(const std::string& name,
                           const kswapd::v1alpha1::NodeReclaimStatus& status);

  kube::Client& client_;
  const Caches& caches_;
  const AgentBook& book_;
  Clock& clock_;
  prometheus::Registry& registry_;
  WritePacer pacer_;
  LastWritten<NodeReclaim> written_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_NODE_RECLAIM_CONTROLLER_H_
