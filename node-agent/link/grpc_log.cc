// SPDX-License-Identifier: Apache-2.0
#include "node-agent/link/grpc_log.h"

#include <grpc/support/log.h>

namespace reclaim::agent {

void DropGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace reclaim::agent
