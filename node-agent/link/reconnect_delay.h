// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_LINK_RECONNECT_DELAY_H_
#define RECLAIM_NODE_AGENT_LINK_RECONNECT_DELAY_H_

#include <algorithm>

#include "absl/time/time.h"

namespace reclaim::agent {

// How long to wait before the next try to reach the operator.
//
//   failures  tries in a row that did not give a stream that lasted; 0 after one that did
//   chance    uniform in [0, 1)
//
// Pure. After a stream that lasted (the operator restarted, or its connection grew old): anywhere
// in the next 5 s, so that a fleet does not come back in one moment. After failures: 1 s, doubling
// to 60 s, each between half and one and a half times of that.
inline absl::Duration ReconnectDelay(int failures, double chance) {
  if (failures <= 0) return absl::Seconds(5) * chance;
  const absl::Duration step =
      std::min(absl::Seconds(1) * (1 << std::min(failures - 1, 6)), absl::Seconds(60));
  return step * (0.5 + chance);
}

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_LINK_RECONNECT_DELAY_H_
