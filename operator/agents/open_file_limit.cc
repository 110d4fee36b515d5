// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/open_file_limit.h"

#include <errno.h>
#include <sys/resource.h>

namespace reclaim::op {

absl::StatusOr<uint64_t> RaiseOpenFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::ErrnoToStatus(errno, "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::ErrnoToStatus(errno, "setrlimit");
  return limit.rlim_cur;
}

}  // namespace reclaim::op
