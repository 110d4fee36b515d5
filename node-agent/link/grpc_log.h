// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_LINK_GRPC_LOG_H_
#define RECLAIM_NODE_AGENT_LINK_GRPC_LOG_H_

namespace reclaim::agent {

// Keeps gRPC from writing to standard error in its own format at each try: the status of the stream
// says the same, and OperatorLink logs that once. For the whole process.
void DropGrpcLog();

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_LINK_GRPC_LOG_H_
