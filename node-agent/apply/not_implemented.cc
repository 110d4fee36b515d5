// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/not_implemented.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"

namespace reclaim::agent {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Top-level fields that say which nodes, and when.
constexpr absl::string_view kClusterFields[] = {"nodeSelector", "priority", "rollout"};

constexpr FieldEntry kSpecFields[] = {
    // Decided by the operator; see kClusterFields.
    {"nodeSelector", FieldHandling::kHandled},
    {"priority", FieldHandling::kHandled},
    {"rollout", FieldHandling::kContainer},
    {"rollout.steps", FieldHandling::kHandled},
    {"rollout.onFailure", FieldHandling::kHandled},
    // Applied by the agent.
    {"mode", FieldHandling::kHandled},
    {"paused", FieldHandling::kHandled},
    {"deletion", FieldHandling::kHandled},
    {"kswapd", FieldHandling::kContainer},
    {"kswapd.workers", FieldHandling::kHandled},
    {"kswapd.numaNodes", FieldHandling::kHandled},
    {"watermarks", FieldHandling::kContainer},
    {"watermarks.minFreeKbytes", FieldHandling::kHandled},
    {"watermarks.scaleFactor", FieldHandling::kHandled},
    {"watermarks.boostFactor", FieldHandling::kHandled},
    {"vm", FieldHandling::kContainer},
    {"vm.swappiness", FieldHandling::kHandled},
    {"vm.vfsCachePressure", FieldHandling::kHandled},
    {"lruGen", FieldHandling::kContainer},
    // Each target reports for itself, by the other table.
    {"proactiveReclaim", FieldHandling::kHandled},
};

constexpr FieldEntry kTargetFields[] = {
    {"name", FieldHandling::kHandled},
    {"scope", FieldHandling::kContainer},
    {"scope.numaNodes", FieldHandling::kHandled},
    {"scope.cgroups", FieldHandling::kHandled},
    {"goal", FieldHandling::kContainer},
    {"goal.rate", FieldHandling::kHandled},
    {"swappiness", FieldHandling::kHandled},
};

void Walk(const Message& message, const std::string& prefix, absl::Span<const FieldEntry> fields,
          std::vector<std::string>& found) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    const std::string path = absl::StrCat(prefix, field->json_name());
    const auto entry = std::find_if(fields.begin(), fields.end(),
                                    [&](const FieldEntry& e) { return e.path == path; });
    if (entry == fields.end()) {
      found.push_back(path);
    } else if (entry->handling == FieldHandling::kContainer) {
      Walk(reflection.GetMessage(message, field), absl::StrCat(path, "."), fields, found);
    }
  }
  const google::protobuf::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  std::set<int> numbers;
  for (int i = 0; i < unknown.field_count(); ++i) numbers.insert(unknown.field(i).number());
  for (int number : numbers) found.push_back(absl::StrCat(prefix, "#", number));
}

}  // namespace

absl::Span<const FieldEntry> SpecFields() { return kSpecFields; }
absl::Span<const FieldEntry> TargetFields() { return kTargetFields; }

std::vector<std::string> FindUnimplemented(const Message& message,
                                           absl::Span<const FieldEntry> fields) {
  std::vector<std::string> found;
  Walk(message, "", fields, found);
  return found;
}

AloneFields FindAlone(const kswapd::v1alpha1::ReclaimPolicySpec& spec) {
  const auto for_cluster = [](absl::string_view path) {
    const absl::string_view top = path.substr(0, path.find('.'));
    return std::find(std::begin(kClusterFields), std::end(kClusterFields), top) !=
           std::end(kClusterFields);
  };
  AloneFields alone;
  std::vector<const FieldDescriptor*> set;
  spec.GetReflection()->ListFields(spec, &set);
  for (const FieldDescriptor* field : set) {
    if (for_cluster(field->json_name())) alone.meaningless.emplace_back(field->json_name());
  }
  alone.unimplemented = FindUnimplemented(spec, kSpecFields);
  std::erase_if(alone.unimplemented, for_cluster);
  return alone;
}

}  // namespace reclaim::agent
