// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_TESTING_TEST_PKI_H_
#define RECLAIM_NODE_AGENT_TESTING_TEST_PKI_H_

#include <string>

namespace reclaim::agent {

// A CA made for one test, and a server certificate for 127.0.0.1 and `operator.test` signed by it.
struct TestPki {
  std::string ca_pem;
  std::string server_cert_pem;
  std::string server_key_pem;
};

TestPki MakeTestPki();

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_TESTING_TEST_PKI_H_
