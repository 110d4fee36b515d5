// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_SPEC_UPDATE_H_
#define RECLAIM_NODE_AGENT_SPEC_UPDATE_H_

#include <string>

#include "kswapd/v1alpha1/agent.pb.h"

namespace reclaim::agent {

// What the node should run from now on, already found valid.
struct SpecUpdate {
  std::string version;  // content hash, as in SpecPush
  kswapd::v1alpha1::NodeSpec spec;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_SPEC_UPDATE_H_
