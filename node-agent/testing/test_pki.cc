// SPDX-License-Identifier: Apache-2.0
#include "node-agent/testing/test_pki.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <memory>

namespace reclaim::agent {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

void Check(bool ok) {
  if (!ok) std::abort();
}

void AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  Check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

Certificate NewCertificate(const char* name, int serial, EVP_PKEY* key, X509* issuer) {
  Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate.get(),
                       X509_get_subject_name(issuer == nullptr ? certificate.get() : issuer));
  return certificate;
}

template <typename Write>
std::string ToPem(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  Check(write(bio) == 1);
  char* data;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

std::string ToPem(X509* certificate) {
  return ToPem([=](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

TestPki MakeTestPki() {
  const Key ca_key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate ca = NewCertificate("test ca", 1, ca_key.get(), nullptr);
  AddExtension(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(ca.get(), ca.get(), NID_key_usage, "critical,keyCertSign");
  Check(X509_sign(ca.get(), ca_key.get(), EVP_sha256()) > 0);

  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate leaf = NewCertificate("operator", 2, key.get(), ca.get());
  AddExtension(leaf.get(), ca.get(), NID_subject_alt_name, "DNS:operator.test,IP:127.0.0.1");
  Check(X509_sign(leaf.get(), ca_key.get(), EVP_sha256()) > 0);

  return {ToPem(ca.get()), ToPem(leaf.get()), ToPem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace reclaim::agent
