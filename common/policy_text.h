// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_POLICY_TEXT_H_
#define RECLAIM_COMMON_POLICY_TEXT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// The texts that the API allows in a policy: narrower than what common/units.h can read, so that
// the CRD can check the same with a short pattern. Each function matches one pattern of
// crds/kswapd.dev_reclaimpolicies.yaml; nullopt or false = it does not match. Pure.
namespace reclaim {

// Bytes: a whole number from 1, up to 15 digits, with an optional suffix Ki Mi Gi Ti k M G T; at
// most 1Pi.
std::optional<int64_t> PolicyQuantity(absl::string_view text);

// The number in front of the sign, at most four digits and three decimals: "0.1%" -> 0.1.
std::optional<double> PolicyPercent(absl::string_view text);

// Numbers of up to six digits and three decimals with the units h, m, s, ms: "1h30m".
std::optional<absl::Duration> PolicyDuration(absl::string_view text);

// A PolicyQuantity, a slash, and one of s, m, h, d.
bool IsPolicyRate(absl::string_view text);

// A DNS label: lower-case letters, digits and, inside, dashes; at most 63 characters.
bool IsDnsLabel(absl::string_view text);

// Key and value of a node label.
bool IsLabelKey(absl::string_view text);
bool IsLabelValue(absl::string_view text);

// An absolute path without white space, none of whose components is empty or starts with a dot; at
// most 256 characters.
bool IsCgroupPattern(absl::string_view text);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_POLICY_TEXT_H_
