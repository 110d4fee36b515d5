// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_TESTING_API_SERVER_H_
#define RECLAIM_OPERATOR_TESTING_API_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "kube/client.h"
#include "kube/json.h"
#include "kube/transport.h"

namespace reclaim::op {

// The real API server of RECLAIM_TEST_KUBECONFIG, with our CRDs, and what a test puts into it.
// Names carry a random part, so several tests may share the server; everything made through Make is
// deleted at the end.
class TestApiServer {
 public:
  // Aborts the test program with a sentence when there is no server to talk to.
  TestApiServer();
  ~TestApiServer();

  kube::Client& client() { return *client_; }
  const std::string& name_space() const { return name_space_; }
  // The random part; nodes made by MakeNode have it as the value of their label "test".
  const std::string& random() const { return random_; }
  // `name` with this object's random part: "n1-k3j9x2".
  std::string Unique(absl::string_view name) const;

  // Creates the object, or aborts with what the server said. Returns it as stored.
  kube::Json Make(const kube::GroupVersionResource& resource, const kube::Json& object);
  // Now instead of at the end; that it is gone already is fine.
  void Remove(const kube::GroupVersionResource& resource, const std::string& name);

  kube::Json MakeNode(const std::string& name);
  void MakeServiceAccount(const std::string& name);
  // A pod of `service_account` that is bound to `node`; returns its UID.
  std::string MakePod(const std::string& name, const std::string& service_account,
                      const std::string& node);
  // TokenRequest for `service_account`; bound to the pod unless `pod` is empty.
  std::string MakeToken(const std::string& service_account, const std::string& audience,
                        const std::string& pod, const std::string& pod_uid);

  // Server-side apply of a ReclaimPolicy as an admin, with `spec` as JSON text.
  absl::Status ApplyPolicy(const std::string& name, const std::string& spec);

 private:
  struct Made {
    kube::GroupVersionResource resource;
    kube::ObjectName name;
  };
  void ApplyCrds();

  SystemClock clock_;
  std::unique_ptr<kube::Transport> transport_;
  std::unique_ptr<kube::Client> client_;
  std::string random_;
  std::string name_space_;
  std::vector<Made> made_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_TESTING_API_SERVER_H_
