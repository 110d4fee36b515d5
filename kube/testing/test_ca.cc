// SPDX-License-Identifier: Apache-2.0
#include "kube/testing/test_ca.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>

#include "gtest/gtest.h"

namespace reclaim::kube::testing {
namespace {

std::string Drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string CertificatePem(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(PEM_write_bio_X509(bio, certificate), 1);
  return Drain(bio);
}

std::string KeyPem(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  return Drain(bio);
}

void AddExtension(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// An unsigned certificate for `key`.
X509* Draft(const std::string& common_name, EVP_PKEY* key) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  uint32_t serial = 0;
  EXPECT_EQ(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)), 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  return certificate;
}

}  // namespace

TestCa::TestCa(const std::string& common_name)
    : key_(EVP_EC_gen("P-256")), certificate_(Draft(common_name, key_)) {
  X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
  AddExtension(certificate_, NID_basic_constraints, "critical,CA:TRUE");
  EXPECT_GT(X509_sign(certificate_, key_, EVP_sha256()), 0);
  pem_ = CertificatePem(certificate_);
}

TestCa::~TestCa() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

KeyPair TestCa::Issue(const std::string& common_name, const std::string& subject_alt_names) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = Draft(common_name, key);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  if (!subject_alt_names.empty()) {
    AddExtension(certificate, NID_subject_alt_name, subject_alt_names);
  }
  EXPECT_GT(X509_sign(certificate, key_, EVP_sha256()), 0);
  KeyPair pair{CertificatePem(certificate), KeyPem(key)};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pair;
}

}  // namespace reclaim::kube::testing
