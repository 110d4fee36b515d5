// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_SELECTOR_H_
#define RECLAIM_OPERATOR_POLICY_SELECTOR_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::op {

// Whether `labels` satisfy every term of a metav1.LabelSelector. Pure.
//
// As Kubernetes: an empty selector matches everything; NotIn and DoesNotExist hold when the key is
// missing, In and Exists do not. A term that is not valid (unknown operator, In or NotIn without
// values, Exists or DoesNotExist with values) matches nothing, so a mistake never widens a policy.
bool Matches(const kswapd::v1alpha1::LabelSelector& selector,
             const absl::flat_hash_map<std::string, std::string>& labels);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_SELECTOR_H_
