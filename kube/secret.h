// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_SECRET_H_
#define RECLAIM_KUBE_SECRET_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/json.h"

namespace reclaim::kube {

// File name to bytes, as a Secret holds them.
using SecretData = std::map<std::string, std::string>;

// A v1 Secret object of `type` ("Opaque", "kubernetes.io/tls") for Client::Create or Apply.
Json MakeSecret(absl::string_view name_space, absl::string_view name, absl::string_view type,
                const SecretData& data);

// The decoded .data; kInvalidArgument names the key whose value is not base64. Values never appear
// in messages.
absl::StatusOr<SecretData> DecodeSecret(const Json& secret);

// Replaces .data of an object that was read, keeping everything else (labels, resourceVersion) for
// Client::Update.
void SetSecretData(Json& secret, const SecretData& data);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_SECRET_H_
