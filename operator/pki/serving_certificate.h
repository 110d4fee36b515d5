// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_PKI_SERVING_CERTIFICATE_H_
#define RECLAIM_OPERATOR_PKI_SERVING_CERTIFICATE_H_

#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/cancellation.h"
#include "operator/pki/authority_store.h"
#include "operator/pki/certificate_folder.h"

namespace reclaim::op {

struct ServingCertificateOptions {
  std::vector<std::string> dns_names;
  absl::Duration lifetime = absl::Hours(24 * 7);
  // How often authority, ConfigMap and certificate are looked at; failures are tried again sooner.
  absl::Duration check_every = absl::Minutes(1);
  absl::Duration retry_every = absl::Seconds(5);
};

// The certificate of the agents' port, renewed at two thirds of its life without a restart. It is
// in memory only: each operator issues its own from the shared authority.
//
// One thread from Start to Stop. `client` calls block. All references must outlive it.
class ServingCertificate {
 public:
  ServingCertificate(AuthorityStore& store, CertificateFolder& folder, Clock& clock,
                     ServingCertificateOptions options);
  ~ServingCertificate();  // Stop()

  // Begins to keep the certificate.
  void Start();
  void Stop();

  // Waits for the first certificate; false after `timeout` or Stop.
  bool WaitUntilReady(absl::Duration timeout) const;

  // One round: authority, ConfigMap, certificate if due. Called by the thread; for tests too.
  absl::Status Refresh();

  // End of the present certificate; absl::InfinitePast() when there is none.
  absl::Time expiry() const;

 private:
  void Run();

  AuthorityStore& store_;
  CertificateFolder& folder_;
  Clock& clock_;
  const ServingCertificateOptions options_;
  kube::Cancellation cancellation_;
  std::thread thread_;
  mutable absl::Mutex mutex_;
  std::string certificate_pem_ ABSL_GUARDED_BY(mutex_);  // the present one
  Validity validity_ ABSL_GUARDED_BY(mutex_) = {absl::InfinitePast(), absl::InfinitePast()};
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_PKI_SERVING_CERTIFICATE_H_
