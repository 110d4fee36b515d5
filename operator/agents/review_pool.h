// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_AGENTS_REVIEW_POOL_H_
#define RECLAIM_OPERATOR_AGENTS_REVIEW_POOL_H_

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/token_review.h"

namespace reclaim::op {

// Asks the API server whose token it is. Injected, so that tests script the answers.
class TokenReviewer {
 public:
  virtual ~TokenReviewer() = default;

  // Blocks. Errors as kube::ReviewToken. Thread-safe.
  virtual absl::StatusOr<kube::TokenIdentity> Review(absl::string_view token) = 0;
};

struct ReviewPoolOptions {
  int threads = 4;  // reviews at the same time
  size_t max_waiting = 4096;
  // One that has waited longer is not made: its agent has given up or soon will.
  absl::Duration max_wait = absl::Seconds(10);
};

// Token reviews off the gRPC threads, which must never block. Nothing is cached: a stream's
// identity is checked when it opens, and the server's maximum connection age makes it open again.
//
// Threads: `options.threads`. Public functions are thread-safe.
class ReviewPool {
 public:
  using Callback = std::function<void(absl::StatusOr<kube::TokenIdentity>)>;

  ReviewPool(TokenReviewer& reviewer, Clock& clock, const ReviewPoolOptions& options = {});
  ~ReviewPool();  // Stop()

  // Answers what still waits with kUnavailable, takes nothing in any more, and joins.
  void Stop();

  // Calls `done` once, on one of the pool's threads. False: too many wait, `done` is not called.
  bool Submit(std::string token, Callback done);

 private:
  struct Request {
    std::string token;
    Callback done;
    absl::Duration submitted_at;
  };
  void Run();

  TokenReviewer& reviewer_;
  Clock& clock_;
  const ReviewPoolOptions options_;
  absl::Mutex mutex_;
  std::deque<Request> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_AGENTS_REVIEW_POOL_H_
