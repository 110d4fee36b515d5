// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TLS_CONTEXT_H_
#define RECLAIM_KUBE_TLS_CONTEXT_H_

#include <openssl/ssl.h>

#include <string>

#include "absl/status/status.h"
#include "kube/credentials.h"

namespace reclaim::kube {

// Sets up an OpenSSL client context: TLS 1.2 or newer, the trust store, the client certificate with
// its chain, and verification of chain and name inside the handshake (so nothing is sent to a wrong
// server; cpp-httplib's own check comes after it and would add the machine's CAs to ours).
//
//   server_name   DNS name or address that the server's certificate must carry
//   insecure      accept any server
//   verify_error  receives OpenSSL's words when a certificate is refused; must outlive the context
// kInvalidArgument for PEM text that cannot be used.
absl::Status ConfigureTls(SSL_CTX* context, const TlsMaterial& material,
                          const std::string& server_name, bool insecure, std::string* verify_error);

// OK when the PEM texts parse and certificate and key belong together.
absl::Status CheckTlsMaterial(const TlsMaterial& material);

// The oldest entry of OpenSSL's error queue of this thread in words, and empties the queue.
std::string TakeOpensslError();

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_TLS_CONTEXT_H_
