// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_TESTING_TEST_CA_H_
#define RECLAIM_COMMON_TESTING_TEST_CA_H_

#include <string>

#include "common/openssl_ptr.h"

namespace reclaim {

// A certificate and its key, PEM.
struct TestIdentity {
  std::string cert_pem;
  std::string key_pem;
};

// A certificate authority made on the spot (P-256), good for an hour.
class TestCa {
 public:
  explicit TestCa(const std::string& common_name = "test CA");
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  const std::string& pem() const { return pem_; }

  // A leaf. `subject_alt_names` as OpenSSL writes them: "IP:127.0.0.1,DNS:kubernetes"; "" for none.
  TestIdentity Issue(const std::string& common_name,
                     const std::string& subject_alt_names = "") const;

 private:
  EvpKeyPtr key_;
  X509Ptr certificate_;
  std::string pem_;
};

}  // namespace reclaim

#endif  // RECLAIM_COMMON_TESTING_TEST_CA_H_
