// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/server_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace reclaim::op {
namespace {

constexpr unsigned kRereadSeconds = 5;

}  // namespace

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const CertificateFolder& folder) {
  auto provider = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      folder.key_path(), folder.certificate_path(), kRereadSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace reclaim::op
