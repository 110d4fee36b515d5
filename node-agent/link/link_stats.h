// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_LINK_LINK_STATS_H_
#define RECLAIM_NODE_AGENT_LINK_LINK_STATS_H_

#include <cstdint>
#include <map>
#include <string>

namespace reclaim::agent {

// The stream to the operator, counted since the process started.
struct LinkStats {
  bool connected = false;       // the operator has answered on the current stream
  uint64_t connects_total = 0;  // streams that the operator answered on
  uint64_t accepted_total = 0;  // specs acknowledged
  uint64_t refused_total = 0;   // specs answered with an error
  uint64_t statuses_total = 0;  // statuses sent
  // Streams that ended, by gRPC status code: "UNAVAILABLE".
  std::map<std::string, uint64_t> ends_total;
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_LINK_LINK_STATS_H_
