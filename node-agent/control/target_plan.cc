// SPDX-License-Identifier: Apache-2.0
#include "node-agent/control/target_plan.h"

#include <cmath>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/reasons.h"

namespace reclaim::agent {
namespace {

TargetPlan Refuse(TargetPlan plan, const char* reason, std::string message) {
  plan.refusal_reason = reason;
  plan.refusal_message = std::move(message);
  return plan;
}

// False: not one of the forms that the API allows.
bool ParseSwappiness(const google::protobuf::Value& value, std::string& text) {
  switch (value.kind_case()) {
    case google::protobuf::Value::KIND_NOT_SET:
      return true;
    case google::protobuf::Value::kNumberValue: {
      const double number = value.number_value();
      if (!(number >= 0 && number <= 200) || number != std::floor(number)) return false;
      text = absl::StrCat(static_cast<int>(number));
      return true;
    }
    case google::protobuf::Value::kStringValue:
      text = value.string_value();
      return text == "max";
    default:
      return false;
  }
}

}  // namespace

TargetPlan PlanTarget(const kswapd::v1alpha1::ProactiveReclaimTarget& target,
                      const std::vector<std::string>& unimplemented) {
  TargetPlan plan;
  plan.name = target.name();
  if (!unimplemented.empty()) {
    return Refuse(plan, reason::kNotImplemented,
                  absl::StrCat("this version does not apply ", absl::StrJoin(unimplemented, ", "),
                               "; the target does not run without"));
  }
  plan.numa_nodes.assign(target.scope().numa_nodes().begin(), target.scope().numa_nodes().end());
  plan.cgroup_patterns.assign(target.scope().cgroups().begin(), target.scope().cgroups().end());
  if (plan.numa_nodes.empty() == plan.cgroup_patterns.empty()) {
    return Refuse(plan, reason::kInvalid, "scope must be one of numaNodes and cgroups");
  }
  plan.rate_text = target.goal().rate();
  absl::StatusOr<Rate> rate = ParseRate(plan.rate_text);
  if (!rate.ok()) {
    return Refuse(plan, reason::kInvalid, absl::StrCat("goal.rate: ", rate.status().message()));
  }
  plan.rate = *rate;
  if (!ParseSwappiness(target.swappiness(), plan.swappiness)) {
    return Refuse(plan, reason::kInvalid,
                  "swappiness must be a whole number from 0 to 200, or \"max\"");
  }
  return plan;
}

}  // namespace reclaim::agent
