// SPDX-License-Identifier: Apache-2.0
#include "kube/tls_context.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/openssl_ptr.h"

namespace reclaim::kube {
namespace {

using SslContextPtr = OpensslPtr<SSL_CTX, SSL_CTX_free>;

absl::StatusOr<std::vector<X509Ptr>> ParseCertificates(const std::string& pem,
                                                       absl::string_view what) {
  std::vector<X509Ptr> certificates;
  const BioPtr bio = ReadBio(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // The loop ends with "no start line" when the text is used up; anything else is a broken block.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = TakeOpensslError();
  if (!at_end) return absl::InvalidArgumentError(absl::StrCat(what, ": ", error));
  if (certificates.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": no PEM certificate in it"));
  }
  return certificates;
}

absl::Status UseTrustStore(SSL_CTX* context, const std::string& ca_pem) {
  if (ca_pem.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<X509Ptr>> authorities =
      ParseCertificates(ca_pem, "certificate authority");
  if (!authorities.ok()) return authorities.status();
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const X509Ptr& authority : *authorities) X509_STORE_add_cert(store, authority.get());
  ERR_clear_error();
  return absl::OkStatus();
}

absl::Status UseClientCertificate(SSL_CTX* context, const std::string& cert_pem,
                                  const std::string& key_pem) {
  if (cert_pem.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<X509Ptr>> chain = ParseCertificates(cert_pem, "client certificate");
  if (!chain.ok()) return chain.status();
  // Without a passphrase callback OpenSSL would ask on the terminal.
  const auto no_passphrase = [](char*, int, int, void*) { return 0; };
  const EvpKeyPtr key(
      PEM_read_bio_PrivateKey(ReadBio(key_pem).get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("client key: ", TakeOpensslError()));
  }
  bool used = SSL_CTX_use_certificate(context, chain->front().get()) == 1;
  for (size_t i = 1; used && i < chain->size(); ++i) {
    used = SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) == 1;
  }
  if (!used || SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("client certificate and key do not fit: ", TakeOpensslError()));
  }
  return absl::OkStatus();
}

int RememberVerifyError(int ok, X509_STORE_CTX* store) {
  if (ok == 1) return 1;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* verify_error = static_cast<std::string*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  *verify_error = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
  return 0;
}

bool IsAddress(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> buffer;
  return inet_pton(AF_INET, name.c_str(), buffer.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), buffer.data()) == 1;
}

}  // namespace

absl::Status ConfigureTls(SSL_CTX* context, const TlsMaterial& material,
                          const std::string& server_name, bool insecure,
                          std::string* verify_error) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  absl::Status status = UseClientCertificate(context, material.cert_pem, material.key_pem);
  if (!status.ok()) return status;
  if (insecure) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return absl::OkStatus();
  }
  status = UseTrustStore(context, material.ca_pem);
  if (!status.ok()) return status;
  SSL_CTX_set_app_data(context, verify_error);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, RememberVerifyError);
  X509_VERIFY_PARAM* parameters = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int named = IsAddress(server_name)
                        ? X509_VERIFY_PARAM_set1_ip_asc(parameters, server_name.c_str())
                        : X509_VERIFY_PARAM_set1_host(parameters, server_name.c_str(), 0);
  if (named != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("server name \"", server_name, "\": ", TakeOpensslError()));
  }
  return absl::OkStatus();
}

absl::Status CheckTlsMaterial(const TlsMaterial& material) {
  const SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return absl::InternalError(TakeOpensslError());
  std::string unused;
  return ConfigureTls(context.get(), material, "localhost", /*insecure=*/false, &unused);
}

std::string TakeOpensslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no details from OpenSSL";
  std::array<char, 256> text;
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace reclaim::kube
