// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_CONTROLLERS_CACHES_H_
#define RECLAIM_OPERATOR_CONTROLLERS_CACHES_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "kube/store.h"
#include "operator/controllers/objects.h"

namespace reclaim::op {

// Local copies of the three collections that everything is decided from.
//
// Threads: one for each collection, from Start to Stop.
class Caches {
 public:
  Caches(kube::Client& client, Clock& clock);

  kube::Store<StoredPolicy> policies;
  kube::Store<Node> nodes;
  kube::Store<NodeReclaim> node_reclaims;

  // After all handlers have been added.
  void Start();
  void Stop();

  // All three have been listed completely.
  bool HasSynced() const;
  // Names of those that have not, for messages: "nodes, nodereclaims".
  std::string Missing() const;
  // Waits for HasSynced; false after `timeout` or Stop.
  bool WaitForSync(absl::Duration timeout) const;

  struct Cache {
    std::string resource;
    kube::ReflectorStats stats;
    size_t objects;
    int64_t refused;
  };
  std::vector<Cache> Stats() const;

 private:
  kube::Reflector policy_reflector_;
  kube::Reflector node_reflector_;
  kube::Reflector node_reclaim_reflector_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_CONTROLLERS_CACHES_H_
