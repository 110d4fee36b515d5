// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TESTING_TEST_CA_H_
#define RECLAIM_KUBE_TESTING_TEST_CA_H_

#include <openssl/x509.h>

#include <string>

namespace reclaim::kube::testing {

struct KeyPair {
  std::string cert_pem;
  std::string key_pem;
};

// A certificate authority made on the spot (P-256), good for an hour.
class TestCa {
 public:
  explicit TestCa(const std::string& common_name = "test CA");
  ~TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  const std::string& pem() const { return pem_; }

  // A leaf. `subject_alt_names` as OpenSSL writes them: "IP:127.0.0.1,DNS:kubernetes"; "" for none.
  KeyPair Issue(const std::string& common_name, const std::string& subject_alt_names = "") const;

 private:
  EVP_PKEY* key_;
  X509* certificate_;
  std::string pem_;
};

}  // namespace reclaim::kube::testing

#endif  // RECLAIM_KUBE_TESTING_TEST_CA_H_
