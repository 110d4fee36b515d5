// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_PKI_SERVER_CREDENTIALS_H_
#define RECLAIM_OPERATOR_PKI_SERVER_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "operator/pki/certificate_folder.h"

namespace reclaim::op {

// TLS credentials of a gRPC server that follow the folder: a pair written later is used for new
// connections within five seconds. The folder must have a pair, and must outlive the server.
// Clients are asked for no certificate; agents prove themselves with their token.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const CertificateFolder& folder);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_PKI_SERVER_CREDENTIALS_H_
