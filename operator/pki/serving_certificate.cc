// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/serving_certificate.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "common/log.h"

namespace reclaim::op {

ServingCertificate::ServingCertificate(AuthorityStore& store, CertificateFolder& folder,
                                       Clock& clock, ServingCertificateOptions options)
    : store_(store), folder_(folder), clock_(clock), options_(std::move(options)) {}

ServingCertificate::~ServingCertificate() { Stop(); }

void ServingCertificate::Start() {
  thread_ = std::thread([this] { Run(); });
}

void ServingCertificate::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  cancellation_.Cancel();
  if (thread_.joinable()) thread_.join();
}

bool ServingCertificate::WaitUntilReady(absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  const auto decided = [this] {
    mutex_.AssertReaderHeld();
    return ready_ || stopped_;
  };
  mutex_.AwaitWithTimeout(absl::Condition(&decided), timeout);
  return ready_;
}

void ServingCertificate::Run() {
  bool failing = false;
  while (!cancellation_.cancelled()) {
    const absl::Status status = Refresh();
    if (!status.ok() && !failing && !cancellation_.cancelled()) {
      LogError("certificate of the agents' port not refreshed",
               {{"error", status.ToString()},
                {"retry_every", absl::FormatDuration(options_.retry_every)}});
    }
    if (status.ok() && failing) LogInfo("certificate of the agents' port refreshed again");
    failing = !status.ok();
    cancellation_.Sleep(failing ? options_.retry_every : options_.check_every);
  }
}

absl::Status ServingCertificate::Refresh() {
  const auto authority = store_.Ensure();
  if (!authority.ok()) return authority.status();
  const absl::Time now = clock_.Now();
  {
    absl::MutexLock lock(&mutex_);
    // A certificate that the published authorities do not vouch for (the Secret was replaced) is of
    // no use, however young.
    if (ready_ && now < validity_.RenewAt() &&
        VerifyServerCertificate(certificate_pem_, authority->bundle_pem, options_.dns_names.front(),
                                now)
            .ok()) {
      return absl::OkStatus();
    }
  }
  const auto pair =
      IssueServerCertificate(authority->signer, options_.dns_names, now, options_.lifetime);
  if (!pair.ok()) return pair.status();
  const auto validity = ValidityOf(pair->certificate_pem);
  if (!validity.ok()) return validity.status();
  absl::Status written = folder_.Write(*pair, now);
  if (!written.ok()) return written;
  LogInfo("certificate of the agents' port issued",
          {{"names", absl::StrJoin(options_.dns_names, ",")},
           {"until", absl::FormatTime(validity->not_after, absl::UTCTimeZone())}});
  absl::MutexLock lock(&mutex_);
  certificate_pem_ = pair->certificate_pem;
  validity_ = *validity;
  ready_ = true;
  return absl::OkStatus();
}

absl::Time ServingCertificate::expiry() const {
  absl::MutexLock lock(&mutex_);
  return validity_.not_after;
}

}  // namespace reclaim::op
