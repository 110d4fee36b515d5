// SPDX-License-Identifier: Apache-2.0
#include "node-agent/state/checkpoint.h"

#include <sys/stat.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agent_api.h"
#include "common/policy_validate.h"
#include "node-agent/state/durable_file.h"

namespace reclaim::agent {

absl::StatusOr<SpecUpdate> DecodeSpec(const std::string& version, const std::string& bytes) {
  SpecUpdate update;
  update.version = version;
  if (!update.spec.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("node_spec is not a serialized NodeSpec");
  }
  const std::vector<FieldError> errors = ValidatePolicySpec(update.spec.spec());
  if (!errors.empty()) return absl::InvalidArgumentError(FormatFieldErrors(errors));
  return update;
}

absl::StatusOr<std::optional<SpecUpdate>> Checkpoint::Load() {
  absl::StatusOr<std::optional<std::string>> bytes =
      ReadWhole(path_, size_t{2} * kMaxAgentMessageBytes);
  if (!bytes.ok()) return bytes.status();
  if (!bytes->has_value()) return std::nullopt;
  kswapd::v1alpha1::SpecPush push;
  if (!push.ParseFromString(**bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(path_, " is not a checkpoint"));
  }
  absl::StatusOr<SpecUpdate> update = DecodeSpec(push.version(), push.node_spec());
  if (!update.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", update.status().message()));
  }
  return *std::move(update);
}

absl::Status Checkpoint::Store(const SpecUpdate& update) {
  kswapd::v1alpha1::SpecPush push;
  push.set_version(update.version);
  push.set_node_spec(update.spec.SerializeAsString());
  return WriteDurably(path_, push.SerializeAsString());
}

std::optional<absl::Time> Checkpoint::WrittenAt() const {
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) return std::nullopt;
  return absl::TimeFromTimespec(info.st_mtim);
}

}  // namespace reclaim::agent
