// SPDX-License-Identifier: Apache-2.0
#include "common/policy_validate.h"

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/policy_text.h"

namespace reclaim {
namespace {

namespace api = ::kswapd::v1alpha1;
using google::protobuf::Value;

constexpr char kMissing[] = "must be set";

// A path while the walk goes down; a value, so that nobody has to take a step back.
class Path {
 public:
  explicit Path(std::string text) : text_(std::move(text)) {}
  Path operator/(absl::string_view field) const { return Path(absl::StrCat(text_, ".", field)); }
  Path operator[](int index) const { return Path(absl::StrCat(text_, "[", index, "]")); }
  Path Key(absl::string_view key) const { return Path(absl::StrCat(text_, "[", key, "]")); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string Got(absl::string_view text) {
  return absl::StrCat("; got \"", absl::CHexEscape(text.substr(0, 60)), "\"");
}

class Validator {
 public:
  std::vector<FieldError> Run(const api::ReclaimPolicySpec& spec) {
    const Path path("spec");
    Selector(spec.node_selector(), path / "nodeSelector");
    if (spec.has_priority()) {
      Between(spec.priority(), -1000000, 1000000, path / "priority");
    }
    if (spec.has_kswapd()) Kswapd(spec.kswapd(), path / "kswapd");
    const api::Watermarks& watermarks = spec.watermarks();
    const Path watermarks_path = path / "watermarks";
    if (watermarks.has_min_free_kbytes()) {
      Between(watermarks.min_free_kbytes(), 128, 16777216, watermarks_path / "minFreeKbytes");
    }
    if (watermarks.has_scale_factor()) {
      Between(watermarks.scale_factor(), 1, 3000, watermarks_path / "scaleFactor");
    }
    if (watermarks.has_boost_factor()) {
      Between(watermarks.boost_factor(), 0, 100000, watermarks_path / "boostFactor");
    }
    if (spec.vm().has_swappiness()) {
      Between(spec.vm().swappiness(), 0, 200, path / "vm" / "swappiness");
    }
    if (spec.vm().has_vfs_cache_pressure()) {
      Between(spec.vm().vfs_cache_pressure(), 0, 1000, path / "vm" / "vfsCachePressure");
    }
    Duration(spec.lru_gen().min_ttl(), absl::ZeroDuration(), absl::Hours(1), "0s to 1h, such as 1s",
             path / "lruGen" / "minTTL");
    Targets(spec, path / "proactiveReclaim");
    if (spec.has_rollout()) Rollout(spec.rollout(), path / "rollout");
    return std::move(errors_);
  }

 private:
  void Bad(const Path& path, std::string message) {
    errors_.push_back({path.text(), std::move(message)});
  }

  void Between(int value, int low, int high, const Path& path) {
    if (value >= low && value <= high) return;
    Bad(path, absl::StrCat("must be a whole number from ", low, " to ", high, "; got ", value));
  }

  void RequiredBetween(std::optional<int> value, int low, int high, const Path& path) {
    if (value.has_value()) {
      Between(*value, low, high, path);
    } else {
      Bad(path, kMissing);
    }
  }

  void AtMost(int items, int limit, const Path& path) {
    if (items > limit)
      Bad(path, absl::StrCat("must have at most ", limit, " entries; has ", items));
  }

  // The functions for texts take an empty one as absent, which it is in proto3.
  void Duration(const std::string& text, absl::Duration low, absl::Duration high,
                absl::string_view want, const Path& path) {
    if (text.empty()) return;
    const std::optional<absl::Duration> duration = PolicyDuration(text);
    if (duration.has_value() && *duration >= low && *duration <= high) return;
    Bad(path, absl::StrCat("must be a duration from ", want, Got(text)));
  }

  // Above 0% and at most 100%.
  static bool IsShare(absl::string_view text) {
    const std::optional<double> percent = PolicyPercent(text);
    return percent.has_value() && *percent > 0 && *percent <= 100;
  }

  void Share(const std::string& text, absl::string_view example, const Path& path) {
    if (text.empty() || IsShare(text)) return;
    Bad(path, absl::StrCat("must be a percentage above 0% and at most 100%, such as ", example,
                           Got(text)));
  }

  void QuantityOrShare(const std::string& text, absl::string_view quantity, absl::string_view share,
                       const Path& path) {
    if (text.empty() || (text.size() <= 20 && PolicyQuantity(text).has_value()) || IsShare(text)) {
      return;
    }
    Bad(path,
        absl::StrCat("must be a whole number of bytes up to 1024Ti such as ", quantity,
                     ", or a percentage above 0% and at most 100% such as ", share, Got(text)));
  }

  void Rate(const std::string& text, absl::string_view example, const Path& path) {
    if (text.empty() || IsPolicyRate(text)) return;
    Bad(path,
        absl::StrCat("must be a whole number of bytes up to 1024Ti and a unit of time (s, m, h "
                     "or d), such as ",
                     example, Got(text)));
  }

  // What IntOrString holds: a whole number, or text.
  static std::optional<double> WholeNumber(const Value& value) {
    if (value.kind_case() != Value::kNumberValue) return std::nullopt;
    const double number = value.number_value();
    if (number != std::floor(number)) return std::nullopt;
    return number;
  }

  void CountOrShare(const Value& value, int low, absl::string_view want, const Path& path) {
    const std::optional<double> count = WholeNumber(value);
    if (count.has_value() && *count >= low && *count <= 1000000) return;
    const std::optional<double> percent = PolicyPercent(value.string_value());
    if (percent.has_value() && (low == 0 || *percent > 0) && *percent <= 100) return;
    Bad(path, std::string(want));
  }

  void Selector(const api::LabelSelector& selector, const Path& path) {
    AtMost(selector.match_labels_size(), 32, path / "matchLabels");
    // The map has no order; the errors must.
    const std::map<std::string, std::string> labels(selector.match_labels().begin(),
                                                    selector.match_labels().end());
    for (const auto& [key, value] : labels) {
      if (!IsLabelKey(key)) {
        Bad(path / "matchLabels", absl::StrCat("must have keys of labels as its keys, such as "
                                               "topology.kubernetes.io/zone",
                                               Got(key)));
      }
      LabelValue(value, (path / "matchLabels").Key(key));
    }
    AtMost(selector.match_expressions_size(), 32, path / "matchExpressions");
    for (int i = 0; i < selector.match_expressions_size(); ++i) {
      Requirement(selector.match_expressions(i), (path / "matchExpressions")[i]);
    }
  }

  void LabelValue(const std::string& value, const Path& path) {
    if (IsLabelValue(value)) return;
    Bad(path, absl::StrCat("must be the value of a label: letters, digits, dashes, dots and "
                           "underscores",
                           Got(value)));
  }

  void Requirement(const api::LabelSelectorRequirement& requirement, const Path& path) {
    if (!IsLabelKey(requirement.key())) {
      Bad(path / "key", absl::StrCat("must be the key of a label, such as "
                                     "topology.kubernetes.io/zone",
                                     Got(requirement.key())));
    }
    const std::string& op = requirement.operator_();
    const bool needs_values = op == "In" || op == "NotIn";
    if (!needs_values && op != "Exists" && op != "DoesNotExist") {
      Bad(path / "operator", absl::StrCat("must be In, NotIn, Exists or DoesNotExist", Got(op)));
    } else if (needs_values && requirement.values().empty()) {
      Bad(path / "values", "must have at least one value for the operators In and NotIn");
    } else if (!needs_values && !requirement.values().empty()) {
      Bad(path / "values", "must be absent for the operators Exists and DoesNotExist");
    }
    AtMost(requirement.values_size(), 64, path / "values");
    NoneTwice(requirement.values(), path / "values");
    for (int i = 0; i < requirement.values_size(); ++i) {
      LabelValue(requirement.values(i), (path / "values")[i]);
    }
  }

  template <typename List>
  void NoneTwice(const List& list, const Path& path) {
    std::set<typename List::value_type> seen;
    for (int i = 0; i < list.size(); ++i) {
      if (!seen.insert(list[i]).second) {
        Bad(path[i], absl::StrCat("must not stand twice: ", list[i]));
      }
    }
  }

  void Kswapd(const api::Kswapd& kswapd, const Path& path) {
    if (kswapd.has_workers()) Between(kswapd.workers(), 1, 16, path / "workers");
    if (kswapd.has_auto_()) {
      const api::AutoWorkers& range = kswapd.auto_();
      const Path auto_path = path / "auto";
      RequiredBetween(range.has_min() ? std::optional(range.min()) : std::nullopt, 1, 16,
                      auto_path / "min");
      RequiredBetween(range.has_max() ? std::optional(range.max()) : std::nullopt, 1, 16,
                      auto_path / "max");
      if (range.has_min() && range.has_max() && range.min() > range.max()) {
        Bad(auto_path / "min",
            absl::StrCat("must not be greater than max; got ", range.min(), " and ", range.max()));
      }
      if (kswapd.has_workers()) {
        Bad(auto_path, "must not be set together with workers; set one of them");
      }
    }
    if (!kswapd.has_workers() && !kswapd.has_auto_() && kswapd.numa_nodes().empty()) {
      Bad(path, "must have at least one of workers, auto and numaNodes");
    }
    AtMost(kswapd.numa_nodes_size(), 64, path / "numaNodes");
    std::set<int> seen;
    for (int i = 0; i < kswapd.numa_nodes_size(); ++i) {
      const api::NumaNodeWorkers& entry = kswapd.numa_nodes(i);
      const Path entry_path = (path / "numaNodes")[i];
      RequiredBetween(entry.has_node() ? std::optional(entry.node()) : std::nullopt, 0, 1023,
                      entry_path / "node");
      RequiredBetween(entry.has_workers() ? std::optional(entry.workers()) : std::nullopt, 1, 16,
                      entry_path / "workers");
      if (entry.has_node() && !seen.insert(entry.node()).second) {
        Bad(entry_path, absl::StrCat("must not stand twice: NUMA node ", entry.node()));
      }
    }
  }

  void Targets(const api::ReclaimPolicySpec& spec, const Path& path) {
    AtMost(spec.proactive_reclaim_size(), 16, path);
    std::set<std::string> seen;
    for (int i = 0; i < spec.proactive_reclaim_size(); ++i) {
      const api::ProactiveReclaimTarget& target = spec.proactive_reclaim(i);
      Target(target, path[i]);
      if (!target.name().empty() && !seen.insert(target.name()).second) {
        Bad(path[i], absl::StrCat("must not stand twice: target ", target.name()));
      }
    }
  }

  void Target(const api::ProactiveReclaimTarget& target, const Path& path) {
    if (target.name().empty()) {
      Bad(path / "name", kMissing);
    } else if (!IsDnsLabel(target.name())) {
      Bad(path / "name",
          absl::StrCat("must be lower-case letters, digits and dashes, such as batch",
                       Got(target.name())));
    }
    if (target.has_scope()) {
      Scope(target.scope(), path / "scope");
    } else {
      Bad(path / "scope", kMissing);
    }
    if (target.has_goal()) {
      Goal(target.goal(), path / "goal");
    } else {
      Bad(path / "goal", kMissing);
    }
    if (target.has_swappiness()) {
      const std::optional<double> number = WholeNumber(target.swappiness());
      const bool in_range = number.has_value() && *number >= 0 && *number <= 200;
      if (!in_range && target.swappiness().string_value() != "max") {
        Bad(path / "swappiness", "must be a number from 0 to 200, or \"max\"");
      }
    }
    const api::ReclaimLimits& limits = target.limits();
    const Path limits_path = path / "limits";
    QuantityOrShare(limits.floor(), "1Gi", "20%", limits_path / "floor");
    QuantityOrShare(limits.max_step(), "64Mi", "1%", limits_path / "maxStep");
    Rate(limits.max_rate(), "1Gi/m", limits_path / "maxRate");
    Share(limits.cpu(), "1%", limits_path / "cpu");
    Rate(limits.swap_writes(), "10Gi/d", limits_path / "swapWrites");
    Breaker(target.circuit_breaker(), path / "circuitBreaker");
  }

  void Breaker(const api::CircuitBreaker& breaker, const Path& path) {
    if (!breaker.refault_ratio().empty()) {
      const std::optional<double> percent = PolicyPercent(breaker.refault_ratio());
      if (!percent.has_value() || *percent <= 0 || *percent > 1000) {
        Bad(path / "refaultRatio",
            absl::StrCat("must be a percentage above 0% and at most 1000%, such as 20%",
                         Got(breaker.refault_ratio())));
      }
    }
    if (breaker.has_failures()) Between(breaker.failures(), 1, 100, path / "failures");
    Duration(breaker.cooldown(), absl::Seconds(1), absl::Hours(24), "1s to 24h, such as 10m",
             path / "cooldown");
  }

  void Scope(const api::ReclaimScope& scope, const Path& path) {
    const int set = scope.has_node() + !scope.numa_nodes().empty() + !scope.qos_classes().empty() +
                    !scope.namespaces().empty() + !scope.cgroups().empty();
    if (set != 1) {
      Bad(path, "must have exactly one of node, numaNodes, qosClasses, namespaces and cgroups");
    }
    AtMost(scope.numa_nodes_size(), 64, path / "numaNodes");
    NoneTwice(scope.numa_nodes(), path / "numaNodes");
    for (int i = 0; i < scope.numa_nodes_size(); ++i) {
      Between(scope.numa_nodes(i), 0, 1023, (path / "numaNodes")[i]);
    }
    NoneTwice(scope.qos_classes(), path / "qosClasses");
    for (int i = 0; i < scope.qos_classes_size(); ++i) {
      const std::string& qos = scope.qos_classes(i);
      if (qos != "Guaranteed" && qos != "Burstable" && qos != "BestEffort") {
        Bad((path / "qosClasses")[i],
            absl::StrCat("must be Guaranteed, Burstable or BestEffort", Got(qos)));
      }
    }
    AtMost(scope.namespaces_size(), 64, path / "namespaces");
    NoneTwice(scope.namespaces(), path / "namespaces");
    for (int i = 0; i < scope.namespaces_size(); ++i) {
      if (!IsDnsLabel(scope.namespaces(i))) {
        Bad((path / "namespaces")[i],
            absl::StrCat("must be the name of a namespace: lower-case letters, digits and dashes",
                         Got(scope.namespaces(i))));
      }
    }
    AtMost(scope.cgroups_size(), 32, path / "cgroups");
    NoneTwice(scope.cgroups(), path / "cgroups");
    for (int i = 0; i < scope.cgroups_size(); ++i) {
      if (!IsCgroupPattern(scope.cgroups(i))) {
        Bad((path / "cgroups")[i],
            absl::StrCat("must be an absolute path of at most 256 characters of which no component "
                         "starts with a dot, such as /kubepods.slice/x-*",
                         Got(scope.cgroups(i))));
      }
    }
  }

  void Goal(const api::ReclaimGoal& goal, const Path& path) {
    if (goal.has_pressure() + !goal.free_memory().empty() + !goal.rate().empty() != 1) {
      Bad(path, "must have exactly one of pressure, freeMemory and rate");
    }
    if (goal.has_pressure() && goal.pressure().some_avg().empty()) {
      Bad(path / "pressure" / "someAvg", kMissing);
    }
    Share(goal.pressure().some_avg(), "0.1%", path / "pressure" / "someAvg");
    QuantityOrShare(goal.free_memory(), "8Gi", "5%", path / "freeMemory");
    Rate(goal.rate(), "64Mi/m", path / "rate");
  }

  void Rollout(const api::Rollout& rollout, const Path& path) {
    AtMost(rollout.steps_size(), 20, path / "steps");
    for (int i = 0; i < rollout.steps_size(); ++i) {
      const api::RolloutStep& step = rollout.steps(i);
      const Path step_path = (path / "steps")[i];
      if (step.has_nodes()) {
        CountOrShare(step.nodes(), 1,
                     "must be a count from 1 to 1000000 such as 1, or a percentage above 0% and at "
                     "most 100% in quotes such as \"10%\"",
                     step_path / "nodes");
      } else {
        Bad(step_path / "nodes", kMissing);
      }
      Duration(step.soak(), absl::ZeroDuration(), absl::Hours(720), "0s to 720h, such as 10m",
               step_path / "soak");
    }
    const api::Gates& gates = rollout.gates();
    const Path gates_path = path / "gates";
    if (gates.has_memory_pressure()) {
      Increase(gates.memory_pressure(), gates_path / "memoryPressure");
    }
    if (gates.has_direct_reclaim()) Increase(gates.direct_reclaim(), gates_path / "directReclaim");
    if (gates.has_refaults()) Increase(gates.refaults(), gates_path / "refaults");
    if (gates.has_not_ready()) NodeCount(gates.not_ready(), gates_path / "notReady");
    if (gates.has_degraded()) NodeCount(gates.degraded(), gates_path / "degraded");
  }

  void Increase(const api::IncreaseGate& gate, const Path& path) {
    const std::optional<double> percent = PolicyPercent(gate.max_increase());
    if (gate.max_increase().empty()) {
      Bad(path / "maxIncrease", kMissing);
    } else if (!percent.has_value() || *percent > 1000) {
      Bad(path / "maxIncrease", absl::StrCat("must be a percentage from 0% to 1000%, such as 50%",
                                             Got(gate.max_increase())));
    }
  }

  void NodeCount(const api::NodeCountGate& gate, const Path& path) {
    if (!gate.has_max_nodes()) {
      Bad(path / "maxNodes", kMissing);
      return;
    }
    CountOrShare(gate.max_nodes(), 0,
                 "must be a count from 0 to 1000000 such as 2, or a percentage from 0% to 100% in "
                 "quotes such as \"5%\"",
                 path / "maxNodes");
  }

  std::vector<FieldError> errors_;
};

}  // namespace

std::vector<FieldError> ValidatePolicySpec(const api::ReclaimPolicySpec& spec) {
  return Validator().Run(spec);
}

std::string FormatFieldErrors(absl::Span<const FieldError> errors) {
  return absl::StrJoin(errors, "; ", [](std::string* out, const FieldError& error) {
    absl::StrAppend(out, error.path, " ", error.message);
  });
}

}  // namespace reclaim
