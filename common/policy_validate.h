// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_POLICY_VALIDATE_H_
#define RECLAIM_COMMON_POLICY_VALIDATE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim {

// One thing that is wrong with a spec.
struct FieldError {
  std::string path;  // JSON path as the admin wrote it: "spec.proactiveReclaim[0].goal.rate"
  std::string
      message;  // one sentence, starts in lower case: "must be …, such as 64Mi/m; got \"x\""
};

// All that is wrong with a spec beyond the types, in the order of the fields; empty = valid.
//
// The same bounds as the CRD's schema, for specs that no API server has seen (the agent's --policy
// file) or that an older CRD let through; crds/testdata is fed to both. Pure.
std::vector<FieldError> ValidatePolicySpec(const kswapd::v1alpha1::ReclaimPolicySpec& spec);

// "spec.kswapd.workers must be …; spec.vm.swappiness must be …", for a log line or a condition.
std::string FormatFieldErrors(absl::Span<const FieldError> errors);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_POLICY_VALIDATE_H_
