// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_INT_OR_PERCENT_H_
#define RECLAIM_COMMON_INT_OR_PERCENT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"

namespace reclaim {

// A count, or a share of a whole that is only known later. Pure.
struct IntOrPercent {
  bool is_percent = false;
  int32_t count = 0;   // when !is_percent
  double ratio = 0.0;  // when is_percent: "10%" -> 0.1

  // The count for `total` items, at most `total`. A share is rounded up, so that a share above zero
  // of something is never nothing.
  int32_t CountOf(int32_t total) const;
};

// Kubernetes' IntOrString as it stands in the API: a whole number >= 0 (1), or a percentage as a
// string ("10%"). "1" in quotes is refused, as Kubernetes does for maxUnavailable.
// Error: InvalidArgument, one sentence with an example.
absl::StatusOr<IntOrPercent> ParseIntOrPercent(const google::protobuf::Value& value);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_INT_OR_PERCENT_H_
