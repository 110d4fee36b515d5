// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_LINK_OPERATOR_CREDENTIALS_H_
#define RECLAIM_NODE_AGENT_LINK_OPERATOR_CREDENTIALS_H_

#include <string>

#include "absl/status/statusor.h"

namespace reclaim::agent {

// What one connection to the operator needs. Read anew for each: the kubelet renews the token, and
// the operator may renew its CA.
struct OperatorCredentials {
  std::string ca_pem;
  std::string token;  // a secret: never logged
};

// Error: a file is missing, empty, or not what it should be; names the file, never its content.
absl::StatusOr<OperatorCredentials> ReadOperatorCredentials(const std::string& ca_file,
                                                            const std::string& token_file);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_LINK_OPERATOR_CREDENTIALS_H_
