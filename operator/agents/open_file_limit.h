// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_OPEN_FILE_LIMIT_H_
#define RECLAIM_OPERATOR_AGENTS_OPEN_FILE_LIMIT_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace reclaim::op {

// Raises the limit of open files (RLIMIT_NOFILE) as far as it goes, because each agent takes one,
// and returns it. 10,000 agents need about 12,000; containers often start with 1,024.
absl::StatusOr<uint64_t> RaiseOpenFileLimit();

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_OPEN_FILE_LIMIT_H_
