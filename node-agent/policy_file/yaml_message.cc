// SPDX-License-Identifier: Apache-2.0
#include "node-agent/policy_file/yaml_message.h"

#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/struct.pb.h"

namespace reclaim::agent {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status Error(const YAML::Node& node, const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(node.Mark().line + 1, ": ", path.empty() ? "document" : path, ": ", what));
}

std::string Shown(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (node.IsNull()) return "nothing";
  return absl::StrCat("\"", absl::CHexEscape(node.Scalar().substr(0, 60)), "\"");
}

// YAML's plain scalars have the tag "?", quoted ones "!": "3" is a string, 3 a number.
bool IsQuoted(const YAML::Node& node) { return node.Tag() == "!"; }

bool ParseWholeNumber(const YAML::Node& node, int32_t& value) {
  const std::string& text = node.Scalar();
  return node.IsScalar() && !IsQuoted(node) && !absl::StartsWith(text, "+") &&
         absl::SimpleAtoi(text, &value);
}

// Whether YAML reads the plain scalar as something else than a string.
bool LooksLikeNonString(const YAML::Node& node) {
  if (IsQuoted(node)) return false;
  double number;
  const std::string& text = node.Scalar();
  return text == "true" || text == "false" || text == "null" || text == "~" ||
         absl::SimpleAtod(text, &number);
}

absl::StatusOr<std::string> ReadString(const YAML::Node& node, const std::string& path) {
  if (!node.IsScalar() || LooksLikeNonString(node)) {
    return Error(node, path,
                 absl::StrCat("must be a string; got ", Shown(node),
                              node.IsScalar() ? " without quotes" : ""));
  }
  return node.Scalar();
}

absl::Status ReadIntOrString(const YAML::Node& node, const std::string& path, Message& message) {
  auto& value = dynamic_cast<google::protobuf::Value&>(message);
  if (int32_t number; ParseWholeNumber(node, number)) {
    value.set_number_value(number);
    return absl::OkStatus();
  }
  if (!node.IsScalar() || LooksLikeNonString(node)) {
    return Error(node, path, absl::StrCat("must be a whole number or a string; got ", Shown(node)));
  }
  value.set_string_value(node.Scalar());
  return absl::OkStatus();
}

std::string FieldNames(const Descriptor& descriptor) {
  std::vector<std::string> names;
  names.reserve(descriptor.field_count());
  for (int i = 0; i < descriptor.field_count(); ++i) {
    names.push_back(descriptor.field(i)->json_name());
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

const FieldDescriptor* FindByJsonName(const Descriptor& descriptor, const std::string& name) {
  for (int i = 0; i < descriptor.field_count(); ++i) {
    if (descriptor.field(i)->json_name() == name) return descriptor.field(i);
  }
  return nullptr;
}

absl::Status ReadMessage(const YAML::Node& node, const std::string& path, Message& message,
                         LineMap& lines);

absl::Status ReadSubmessage(const YAML::Node& node, const std::string& path, Message& message,
                            LineMap& lines) {
  if (message.GetDescriptor()->full_name() == "google.protobuf.Value") {
    return ReadIntOrString(node, path, message);
  }
  return ReadMessage(node, path, message, lines);
}

absl::Status ReadSingle(const YAML::Node& node, const std::string& path,
                        const FieldDescriptor& field, Message& message, LineMap& lines) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      int32_t value;
      if (!ParseWholeNumber(node, value)) {
        return Error(node, path, absl::StrCat("must be a whole number; got ", Shown(node)));
      }
      reflection.SetInt32(&message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      if (!node.IsScalar() || IsQuoted(node) ||
          (node.Scalar() != "true" && node.Scalar() != "false")) {
        return Error(node, path, absl::StrCat("must be true or false; got ", Shown(node)));
      }
      reflection.SetBool(&message, &field, node.Scalar() == "true");
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_STRING: {
      absl::StatusOr<std::string> value = ReadString(node, path);
      if (!value.ok()) return value.status();
      reflection.SetString(&message, &field, *std::move(value));
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        const auto* value = field.enum_type()->value(i);
        if (value->number() == 0) continue;  // "unspecified" is no word of the API
        if (node.IsScalar() && node.Scalar() == value->name()) {
          reflection.SetEnum(&message, &field, value);
          return absl::OkStatus();
        }
        names.push_back(value->name());
      }
      return Error(
          node, path,
          absl::StrCat("must be one of ", absl::StrJoin(names, ", "), "; got ", Shown(node)));
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ReadSubmessage(node, path, *reflection.MutableMessage(&message, &field), lines);
    default:
      return Error(node, path, "has a type that the API does not use");
  }
}

absl::Status ReadMap(const YAML::Node& node, const std::string& path, const FieldDescriptor& field,
                     Message& message, LineMap& lines) {
  if (!node.IsMap()) return Error(node, path, absl::StrCat("must be a mapping; got ", Shown(node)));
  const FieldDescriptor& key_field = *field.message_type()->map_key();
  const FieldDescriptor& value_field = *field.message_type()->map_value();
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string& key = pair.first.Scalar();
    const std::string inner = absl::StrCat(path, "[\"", absl::CHexEscape(key), "\"]");
    if (!seen.insert(key).second) return Error(pair.first, inner, "comes twice");
    Message& entry = *message.GetReflection()->AddMessage(&message, &field);
    entry.GetReflection()->SetString(&entry, &key_field, key);
    lines[inner] = pair.first.Mark().line + 1;
    if (absl::Status status = ReadSingle(pair.second, inner, value_field, entry, lines);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ReadList(const YAML::Node& node, const std::string& path, const FieldDescriptor& field,
                      Message& message, LineMap& lines) {
  if (!node.IsSequence())
    return Error(node, path, absl::StrCat("must be a list; got ", Shown(node)));
  const Reflection& reflection = *message.GetReflection();
  for (size_t i = 0; i < node.size(); ++i) {
    const std::string inner = absl::StrCat(path, "[", i, "]");
    const YAML::Node item = node[i];
    lines[inner] = item.Mark().line + 1;
    absl::Status status;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      status = ReadSubmessage(item, inner, *reflection.AddMessage(&message, &field), lines);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      absl::StatusOr<std::string> value = ReadString(item, inner);
      if (value.ok()) reflection.AddString(&message, &field, *value);
      status = value.status();
    } else if (int32_t value; ParseWholeNumber(item, value)) {
      reflection.AddInt32(&message, &field, value);
    } else {
      status = Error(item, inner, absl::StrCat("must be a whole number; got ", Shown(item)));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadMessage(const YAML::Node& node, const std::string& path, Message& message,
                         LineMap& lines) {
  if (!node.IsMap()) return Error(node, path, absl::StrCat("must be a mapping; got ", Shown(node)));
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) return Error(pair.first, path, "has a field that is not a name");
    const std::string& name = pair.first.Scalar();
    const std::string inner = path.empty() ? name : absl::StrCat(path, ".", name);
    const FieldDescriptor* field = FindByJsonName(*message.GetDescriptor(), name);
    if (field == nullptr) {
      return Error(pair.first, inner,
                   absl::StrCat("unknown field; the fields here are ",
                                FieldNames(*message.GetDescriptor())));
    }
    if (!seen.insert(name).second) return Error(pair.first, inner, "comes twice");
    lines[inner] = pair.first.Mark().line + 1;
    absl::Status status;
    if (field->is_map()) {
      status = ReadMap(pair.second, inner, *field, message, lines);
    } else if (field->is_repeated()) {
      status = ReadList(pair.second, inner, *field, message, lines);
    } else {
      status = ReadSingle(pair.second, inner, *field, message, lines);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadYamlMessage(const YAML::Node& node, const std::string& path, Message& message,
                             LineMap& lines) {
  try {
    return ReadMessage(node, path, message, lines);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(error.mark.line + 1, ": ", path, ": ", error.msg));
  }
}

}  // namespace reclaim::agent
