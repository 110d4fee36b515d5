// SPDX-License-Identifier: Apache-2.0
#include "common/testing/test_ca.h"

#include <openssl/pem.h>
#include <openssl/rand.h>

#include <cstdint>

#include "gtest/gtest.h"

namespace reclaim {
namespace {

std::string CertificatePem(X509* certificate) {
  const BioPtr bio = WriteBio();
  EXPECT_EQ(PEM_write_bio_X509(bio.get(), certificate), 1);
  return TextOf(bio.get());
}

std::string KeyPem(EVP_PKEY* key) {
  const BioPtr bio = WriteBio();
  EXPECT_EQ(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  return TextOf(bio.get());
}

void AddExtension(X509* certificate, int nid, const std::string& value) {
  const X509ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
  ASSERT_NE(extension, nullptr) << value;
  EXPECT_EQ(X509_add_ext(certificate, extension.get(), -1), 1);
}

// An unsigned certificate for `key`.
X509Ptr Draft(const std::string& common_name, EVP_PKEY* key) {
  X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  uint32_t serial = 0;
  EXPECT_EQ(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)), 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  return certificate;
}

}  // namespace

TestCa::TestCa(const std::string& common_name)
    : key_(EVP_EC_gen("P-256")), certificate_(Draft(common_name, key_.get())) {
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  AddExtension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate_.get(), NID_key_usage, "critical,keyCertSign");
  EXPECT_GT(X509_sign(certificate_.get(), key_.get(), EVP_sha256()), 0);
  pem_ = CertificatePem(certificate_.get());
}

TestIdentity TestCa::Issue(const std::string& common_name,
                           const std::string& subject_alt_names) const {
  const EvpKeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate = Draft(common_name, key.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  if (!subject_alt_names.empty()) {
    AddExtension(certificate.get(), NID_subject_alt_name, subject_alt_names);
  }
  EXPECT_GT(X509_sign(certificate.get(), key_.get(), EVP_sha256()), 0);
  return {CertificatePem(certificate.get()), KeyPem(key.get())};
}

}  // namespace reclaim
