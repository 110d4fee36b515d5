// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/empty_messages.h"

#include <vector>

namespace reclaim::op {

void ClearEmptyMessages(google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        ClearEmptyMessages(*reflection.MutableRepeatedMessage(&message, field, i));
      }
      continue;
    }
    google::protobuf::Message& inner = *reflection.MutableMessage(&message, field);
    ClearEmptyMessages(inner);
    if (inner.ByteSizeLong() == 0) reflection.ClearField(&message, field);
  }
}

}  // namespace reclaim::op
