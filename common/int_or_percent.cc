// SPDX-License-Identifier: Apache-2.0
#include "common/int_or_percent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/units.h"

namespace reclaim {
namespace {

constexpr char kWant[] = "want a count such as 1, or a percentage in quotes such as \"10%\"";

}  // namespace

int32_t IntOrPercent::CountOf(int32_t total) const {
  if (!is_percent) return std::min(count, total);
  // 0.07 * 100 is 7.0000000000000009: a share that is whole up to rounding must not become one
  // more.
  const double share = std::ceil(ratio * total - 1e-9);
  return static_cast<int32_t>(std::clamp(share, 0.0, static_cast<double>(total)));
}

absl::StatusOr<IntOrPercent> ParseIntOrPercent(const google::protobuf::Value& value) {
  IntOrPercent result;
  if (value.kind_case() == google::protobuf::Value::kNumberValue) {
    const double number = value.number_value();
    if (number < 0 || number > std::numeric_limits<int32_t>::max() ||
        number != std::floor(number)) {
      return absl::InvalidArgumentError(absl::StrCat(number, " is not a count: ", kWant));
    }
    result.count = static_cast<int32_t>(number);
    return result;
  }
  if (value.kind_case() == google::protobuf::Value::kStringValue) {
    const absl::StatusOr<double> ratio = ParsePercent(value.string_value());
    if (!ratio.ok()) return absl::InvalidArgumentError(ratio.status().message());
    result.is_percent = true;
    result.ratio = *ratio;
    return result;
  }
  return absl::InvalidArgumentError(absl::StrCat("not a number or a string: ", kWant));
}

}  // namespace reclaim
