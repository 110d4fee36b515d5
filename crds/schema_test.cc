// SPDX-License-Identifier: Apache-2.0
//
// Holds the CRD schemas and the proto messages together: the schema is the JSON mapping of the
// message, field by field, in both directions, and each field tells an admin what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "crds/crd_schema.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/struct.pb.h"
#include "kswapd/v1alpha1/node_reclaim.pb.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::crds {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Collects what differs between a message and a schema; the path is the JSON path of the field.
class Comparison {
 public:
  std::vector<std::string> Run(const Descriptor& message, const YAML::Node& schema,
                               const std::string& path) {
    Object(message, schema, path);
    return std::move(differences_);
  }

 private:
  void Differ(const std::string& path, const std::string& what) {
    differences_.push_back(absl::StrCat(path, ": ", what));
  }

  static std::string Text(const YAML::Node& schema, const char* key) {
    return schema[key] ? schema[key].as<std::string>() : "";
  }

  void WantType(const YAML::Node& schema, const std::string& type, const std::string& path) {
    if (Text(schema, "type") != type) {
      Differ(path, absl::StrCat("schema has type \"", Text(schema, "type"),
                                "\", the proto field is ", type));
    }
  }

  void WantDescription(const YAML::Node& schema, const std::string& path) {
    const std::string description = Text(schema, "description");
    if (!absl::EndsWith(description, ".")) {
      Differ(path, "has no description that ends with a period");
    }
  }

  void Object(const Descriptor& message, const YAML::Node& schema, const std::string& path) {
    WantType(schema, "object", path);
    WantDescription(schema, path);
    std::set<std::string> in_proto;
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      const std::string field_path = absl::StrCat(path, ".", field.json_name());
      in_proto.insert(field.json_name());
      const YAML::Node property =
          schema["properties"] ? schema["properties"][field.json_name()] : YAML::Node();
      if (!property.IsDefined() || property.IsNull()) {
        Differ(field_path, "in the proto message, not in the schema");
        continue;
      }
      WantDescription(property, field_path);
      Field(field, property, field_path);
    }
    for (const auto& property : schema["properties"]) {
      const std::string name = property.first.as<std::string>();
      if (in_proto.count(name) == 0) {
        Differ(absl::StrCat(path, ".", name), "in the schema, not in the proto message");
      }
    }
    for (const auto& required : schema["required"]) {
      if (in_proto.count(required.as<std::string>()) == 0) {
        Differ(absl::StrCat(path, ".", required.as<std::string>()), "required, but not a field");
      }
    }
  }

  void Field(const FieldDescriptor& field, const YAML::Node& schema, const std::string& path) {
    if (field.is_map()) {
      WantType(schema, "object", path);
      if (!schema["maxProperties"]) Differ(path, "has no maxProperties");
      if (!schema["additionalProperties"]) {
        Differ(path, "a map in the proto message, without additionalProperties");
        return;
      }
      Single(*field.message_type()->map_value(), schema["additionalProperties"],
             absl::StrCat(path, "[*]"));
    } else if (field.is_repeated()) {
      WantType(schema, "array", path);
      if (!schema["maxItems"]) Differ(path, "has no maxItems");
      if (!schema["x-kubernetes-list-type"]) Differ(path, "has no x-kubernetes-list-type");
      WantDescription(schema["items"], absl::StrCat(path, "[]"));
      Single(field, schema["items"], absl::StrCat(path, "[]"));
    } else {
      Single(field, schema, path);
    }
  }

  void Single(const FieldDescriptor& field, const YAML::Node& schema, const std::string& path) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        WantType(schema, "boolean", path);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        WantType(schema, "integer", path);
        if (Text(schema, "format") != "int32") Differ(path, "an int32 without format int32");
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        WantType(schema, "string", path);
        if (!schema["maxLength"] && !schema["enum"]) Differ(path, "has no maxLength");
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        WantType(schema, "string", path);
        Enum(*field.enum_type(), schema, path);
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (field.message_type() == google::protobuf::Value::descriptor()) {
          if (Text(schema, "x-kubernetes-int-or-string") != "true") {
            Differ(path, "a google.protobuf.Value without x-kubernetes-int-or-string");
          }
        } else {
          Object(*field.message_type(), schema, path);
        }
        break;
      default:
        Differ(path, absl::StrCat("the API has no fields of type ", field.cpp_type_name()));
    }
  }

  void Enum(const EnumDescriptor& values, const YAML::Node& schema, const std::string& path) {
    std::set<std::string> in_proto;
    for (int i = 0; i < values.value_count(); ++i) {
      // The zero value is how proto3 says "absent"; JSON never has it.
      if (values.value(i)->number() != 0) in_proto.insert(values.value(i)->name());
    }
    std::set<std::string> in_schema;
    for (const auto& value : schema["enum"]) in_schema.insert(value.as<std::string>());
    if (in_proto != in_schema) {
      Differ(path, absl::StrCat("schema has the values {", absl::StrJoin(in_schema, ", "),
                                "}, the proto enum {", absl::StrJoin(in_proto, ", "), "}"));
    }
  }

  std::vector<std::string> differences_;
};

constexpr char kPolicies[] = "kswapd.dev_reclaimpolicies.yaml";
constexpr char kNodes[] = "kswapd.dev_nodereclaims.yaml";

std::vector<std::string> ComparePolicySpec(const YAML::Node& schema) {
  return Comparison().Run(*kswapd::v1alpha1::ReclaimPolicySpec::descriptor(), schema, "spec");
}

TEST(SchemaTest, PolicySpecIsTheProtoMessage) {
  EXPECT_THAT(ComparePolicySpec(LoadProperty(kPolicies, "spec")), IsEmpty());
}

TEST(SchemaTest, PolicyStatusIsTheProtoMessage) {
  EXPECT_THAT(Comparison().Run(*kswapd::v1alpha1::ReclaimPolicyStatus::descriptor(),
                               LoadProperty(kPolicies, "status"), "status"),
              IsEmpty());
}

TEST(SchemaTest, NodeReclaimStatusIsTheProtoMessage) {
  EXPECT_THAT(Comparison().Run(*kswapd::v1alpha1::NodeReclaimStatus::descriptor(),
                               LoadProperty(kNodes, "status"), "status"),
              IsEmpty());
}

TEST(SchemaTest, NodeReclaimHasNoSpec) { EXPECT_FALSE(LoadProperty(kNodes, "spec").IsDefined()); }

TEST(SchemaTest, ConditionsAreKeyedByType) {
  for (const char* file : {kPolicies, kNodes}) {
    const YAML::Node conditions = LoadProperty(file, "status")["properties"]["conditions"];
    EXPECT_EQ(conditions["x-kubernetes-list-type"].as<std::string>(), "map") << file;
    EXPECT_EQ(conditions["x-kubernetes-list-map-keys"][0].as<std::string>(), "type") << file;
  }
}

// The comparison itself, on a schema with one thing changed at a time.
TEST(SchemaComparisonTest, FindsEachKindOfDifference) {
  struct Case {
    const char* name;
    void (*change)(YAML::Node spec);
    const char* difference;
  };
  const Case cases[] = {
      {"field missing in the schema",
       [](YAML::Node spec) { spec["properties"]["kswapd"]["properties"].remove("workers"); },
       "spec.kswapd.workers: in the proto message, not in the schema"},
      {"field missing in the proto message",
       [](YAML::Node spec) { spec["properties"]["kswapd"]["properties"]["threads"]["type"] = "x"; },
       "spec.kswapd.threads: in the schema, not in the proto message"},
      {"type", [](YAML::Node spec) { spec["properties"]["paused"]["type"] = "string"; },
       "spec.paused: schema has type \"string\", the proto field is boolean"},
      {"enum value", [](YAML::Node spec) { spec["properties"]["mode"]["enum"].push_back("Dream"); },
       "spec.mode: schema has the values {Dream, Enforce, Observe}"},
      {"int-or-string",
       [](YAML::Node spec) {
         spec["properties"]["proactiveReclaim"]["items"]["properties"]["swappiness"].remove(
             "x-kubernetes-int-or-string");
       },
       "spec.proactiveReclaim[].swappiness: a google.protobuf.Value without"},
      {"map",
       [](YAML::Node spec) {
         spec["properties"]["nodeSelector"]["properties"]["matchLabels"].remove(
             "additionalProperties");
       },
       "spec.nodeSelector.matchLabels: a map in the proto message"},
      {"list", [](YAML::Node spec) { spec["properties"]["proactiveReclaim"]["type"] = "object"; },
       "spec.proactiveReclaim: schema has type \"object\", the proto field is array"},
      {"unbounded list",
       [](YAML::Node spec) { spec["properties"]["proactiveReclaim"].remove("maxItems"); },
       "spec.proactiveReclaim: has no maxItems"},
      {"description",
       [](YAML::Node spec) {
         spec["properties"]["kswapd"]["properties"]["auto"].remove("description");
       },
       "spec.kswapd.auto: has no description"},
      {"required", [](YAML::Node spec) { spec["required"].push_back("nodes"); },
       "spec.nodes: required, but not a field"},
  };
  for (const Case& c : cases) {
    YAML::Node spec = LoadProperty(kPolicies, "spec");
    c.change(spec);
    EXPECT_THAT(ComparePolicySpec(spec), Contains(HasSubstr(c.difference))) << c.name;
  }
}

}  // namespace
}  // namespace reclaim::crds
