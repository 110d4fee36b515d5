// SPDX-License-Identifier: Apache-2.0
#include "kube/secret.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace reclaim::kube {

Json MakeSecret(absl::string_view name_space, absl::string_view name, absl::string_view type,
                const SecretData& data) {
  Json secret = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", {{"name", std::string(name)}, {"namespace", std::string(name_space)}}},
      {"type", std::string(type)}};
  SetSecretData(secret, data);
  return secret;
}

absl::StatusOr<SecretData> DecodeSecret(const Json& secret) {
  SecretData decoded;
  const Json* data = Find(secret, {"data"});
  if (data == nullptr || data->is_null()) return decoded;
  if (!data->is_object()) return absl::InvalidArgumentError("secret: data is not an object");
  for (const auto& [key, value] : data->items()) {
    if (!value.is_string() || !absl::Base64Unescape(value.get<std::string>(), &decoded[key])) {
      return absl::InvalidArgumentError(
          absl::StrCat("secret ", KeyOf(secret), ": data[\"", key, "\"] is not base64"));
    }
  }
  return decoded;
}

void SetSecretData(Json& secret, const SecretData& data) {
  Json encoded = Json::object();
  for (const auto& [key, value] : data) encoded[key] = absl::Base64Escape(value);
  secret["data"] = std::move(encoded);
}

}  // namespace reclaim::kube
