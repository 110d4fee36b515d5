// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_REFLECTOR_SINK_H_
#define RECLAIM_KUBE_REFLECTOR_SINK_H_

#include "kube/json.h"

namespace reclaim::kube {

// Where a reflector puts what it sees. Called on the reflector's thread only, in the order
// (BeginList ListItem* EndList | BeginList ListItem*) (Upsert | Delete)* and again.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;

  // A list begins; a list begun earlier and not ended is forgotten (it failed half way).
  virtual void BeginList() = 0;
  virtual void ListItem(const Json& object) = 0;
  // The list was complete: whatever the sink knows and the list did not have is gone.
  virtual void EndList() = 0;

  virtual void Upsert(const Json& object) = 0;  // ADDED or MODIFIED
  virtual void Delete(const Json& object) = 0;  // DELETED, with its last state
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_REFLECTOR_SINK_H_
