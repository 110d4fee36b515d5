// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/unknown_fields.h"

#include "absl/strings/str_cat.h"

namespace reclaim::op {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

const FieldDescriptor* FindField(const Descriptor& type, const std::string& json_name) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->json_name() == json_name) return type.field(i);
  }
  return nullptr;
}

void WalkObject(const kube::Json& json, const Descriptor& type, absl::string_view path,
                std::vector<std::string>& found);

void WalkValue(const kube::Json& json, const FieldDescriptor& field, absl::string_view path,
               std::vector<std::string>& found) {
  if (field.type() == FieldDescriptor::TYPE_ENUM) {
    if (json.is_string() &&
        field.enum_type()->FindValueByName(json.get<std::string>()) == nullptr) {
      found.push_back(absl::StrCat(path, ": ", json.get<std::string>()));
    }
  } else if (field.type() == FieldDescriptor::TYPE_MESSAGE &&
             field.message_type()->well_known_type() == Descriptor::WELLKNOWNTYPE_UNSPECIFIED) {
    WalkObject(json, *field.message_type(), path, found);
  }
}

void WalkObject(const kube::Json& json, const Descriptor& type, absl::string_view path,
                std::vector<std::string>& found) {
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    const std::string below = absl::StrCat(path, ".", key);
    const FieldDescriptor* field = FindField(type, key);
    if (field == nullptr) {
      found.push_back(below);
    } else if (field->is_map()) {
      continue;  // any key; our maps are of strings
    } else if (!field->is_repeated()) {
      WalkValue(value, *field, below, found);
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        WalkValue(value[i], *field, absl::StrCat(below, "[", i, "]"), found);
      }
    }
  }
}

}  // namespace

std::vector<std::string> FindUnknown(const kube::Json& json, const Descriptor& type,
                                     absl::string_view path) {
  std::vector<std::string> found;
  WalkObject(json, type, path, found);
  return found;
}

}  // namespace reclaim::op
