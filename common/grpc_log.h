// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_GRPC_LOG_H_
#define RECLAIM_COMMON_GRPC_LOG_H_

#include <functional>

namespace reclaim {

// Sends gRPC's own messages (errors only) to our log, and calls `on_handshake_failure`, if there is
// one, for each connection that broke off the TLS handshake or spoke no TLS at all: gRPC 1.51 has
// no other place where a server learns of those. A message that repeats is logged once a minute.
//
// For the whole process; the last call holds. `on_handshake_failure` runs on gRPC's threads and
// must stay callable until the process ends or the next call.
void RouteGrpcLog(std::function<void()> on_handshake_failure);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_GRPC_LOG_H_
