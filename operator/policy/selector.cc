// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/selector.h"

#include <algorithm>

namespace reclaim::op {
namespace {

using Labels = absl::flat_hash_map<std::string, std::string>;

bool Holds(const kswapd::v1alpha1::LabelSelectorRequirement& term, const Labels& labels) {
  const auto label = labels.find(term.key());
  const bool present = label != labels.end();
  if (term.operator_() == "Exists") return present && term.values().empty();
  if (term.operator_() == "DoesNotExist") return !present && term.values().empty();
  if (term.values().empty()) return false;
  const bool listed =
      present && std::count(term.values().begin(), term.values().end(), label->second) > 0;
  if (term.operator_() == "In") return listed;
  if (term.operator_() == "NotIn") return !listed;
  return false;
}

}  // namespace

bool Matches(const kswapd::v1alpha1::LabelSelector& selector, const Labels& labels) {
  for (const auto& [key, value] : selector.match_labels()) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  return std::all_of(selector.match_expressions().begin(), selector.match_expressions().end(),
                     [&](const auto& term) { return Holds(term, labels); });
}

}  // namespace reclaim::op
