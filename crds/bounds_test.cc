// SPDX-License-Identifier: Apache-2.0
//
// Holds the numbers of the CRD and of common/policy_validate.cc together: each `minimum`, `maximum`
// and `maxItems` of the schema is tried on the validation, on its good and on its bad side.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/policy_validate.h"
#include "crds/crd_schema.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::crds {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using kswapd::v1alpha1::ReclaimPolicySpec;

// The fields from the spec down to the one that is tried; every list on the way gets one element.
using Trail = std::vector<const FieldDescriptor*>;

std::string PathOf(const Trail& trail, bool last_is_element) {
  std::string path = "spec";
  for (size_t i = 0; i < trail.size(); ++i) {
    absl::StrAppend(&path, ".", trail[i]->json_name());
    const bool element = i + 1 < trail.size() || last_is_element;
    if (trail[i]->is_repeated() && element) absl::StrAppend(&path, "[0]");
  }
  return path;
}

// The message that holds the last field of the trail, made on the way.
Message& Holder(const Trail& trail, ReclaimPolicySpec& spec) {
  Message* message = &spec;
  for (size_t i = 0; i + 1 < trail.size(); ++i) {
    const Reflection& reflection = *message->GetReflection();
    message = trail[i]->is_repeated() ? reflection.AddMessage(message, trail[i])
                                      : reflection.MutableMessage(message, trail[i]);
  }
  return *message;
}

bool HasErrorAt(const ReclaimPolicySpec& spec, const std::string& path) {
  const std::vector<FieldError> errors = ValidatePolicySpec(spec);
  return std::any_of(errors.begin(), errors.end(),
                     [&path](const FieldError& error) { return error.path == path; });
}

class Bounds {
 public:
  int tried() const { return tried_; }

  void Walk(const google::protobuf::Descriptor& message, const YAML::Node& schema,
            const Trail& trail) {
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor* field = message.field(i);
      Trail here = trail;
      here.push_back(field);
      YAML::Node property = schema["properties"][field->json_name()];
      if (field->is_map()) continue;  // no numbers in its values
      if (field->is_repeated()) {
        TryItems(here, property["maxItems"].as<int>());
        property = property["items"];
      }
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
        TryNumber(here, property["minimum"].as<int>(), true);
        TryNumber(here, property["maximum"].as<int>(), false);
      } else if (property["properties"]) {
        Walk(*field->message_type(), property, here);
      }
    }
  }

 private:
  void TryNumber(const Trail& trail, int bound, bool is_minimum) {
    const int outside = is_minimum ? bound - 1 : bound + 1;
    const std::string path = PathOf(trail, /*last_is_element=*/true);
    for (const int value : {bound, outside}) {
      ReclaimPolicySpec spec;
      Message& holder = Holder(trail, spec);
      if (trail.back()->is_repeated()) {
        holder.GetReflection()->AddInt32(&holder, trail.back(), value);
      } else {
        holder.GetReflection()->SetInt32(&holder, trail.back(), value);
      }
      EXPECT_EQ(HasErrorAt(spec, path), value == outside)
          << path << " = " << value << "; the CRD has the "
          << (is_minimum ? "minimum " : "maximum ") << bound;
    }
    ++tried_;
  }

  void TryItems(const Trail& trail, int max_items) {
    const FieldDescriptor* field = trail.back();
    // Three classes exist, and none may stand twice: a fourth is refused as such.
    if (field->json_name() == "qosClasses") return;
    const std::string path = PathOf(trail, /*last_is_element=*/false);
    for (const int count : {max_items, max_items + 1}) {
      ReclaimPolicySpec spec;
      Message& holder = Holder(trail, spec);
      const Reflection& reflection = *holder.GetReflection();
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
          reflection.AddMessage(&holder, field);
        } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
          reflection.AddInt32(&holder, field, i);
        } else {
          reflection.AddString(&holder, field, absl::StrCat("x", i));
        }
      }
      // Only In takes values; other operators have their own error at this path.
      if (field->json_name() == "values") {
        static_cast<kswapd::v1alpha1::LabelSelectorRequirement&>(holder).set_operator_("In");
      }
      EXPECT_EQ(HasErrorAt(spec, path), count > max_items)
          << path << " with " << count << " entries; the CRD has maxItems " << max_items;
    }
    ++tried_;
  }

  int tried_ = 0;
};

TEST(BoundsTest, ValidationDrawsTheLineWhereTheCrdDoes) {
  Bounds bounds;
  bounds.Walk(*ReclaimPolicySpec::descriptor(),
              LoadProperty("kswapd.dev_reclaimpolicies.yaml", "spec"), {});
  EXPECT_GE(bounds.tried(), 34) << "the walk no longer reaches the schema's numbers";
}

}  // namespace
}  // namespace reclaim::crds
