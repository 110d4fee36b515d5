// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/review_pool.h"

#include <utility>

namespace reclaim::op {

ReviewPool::ReviewPool(TokenReviewer& reviewer, Clock& clock, const ReviewPoolOptions& options)
    : reviewer_(reviewer), clock_(clock), options_(options) {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Run(); });
}

ReviewPool::~ReviewPool() { Stop(); }

void ReviewPool::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool ReviewPool::Submit(std::string token, Callback done) {
  absl::MutexLock lock(&mutex_);
  if (stopping_ || waiting_.size() >= options_.max_waiting) return false;
  waiting_.push_back({std::move(token), std::move(done), clock_.Monotonic()});
  return true;
}

void ReviewPool::Run() {
  while (true) {
    Request request;
    bool stopping;
    {
      absl::MutexLock lock(&mutex_);
      const auto ready = [this] {
        mutex_.AssertHeld();
        return stopping_ || !waiting_.empty();
      };
      mutex_.Await(absl::Condition(&ready));
      if (waiting_.empty()) return;
      request = std::move(waiting_.front());
      waiting_.pop_front();
      stopping = stopping_;
    }
    if (stopping) {
      request.done(absl::UnavailableError("the operator is stopping"));
    } else if (clock_.Monotonic() - request.submitted_at > options_.max_wait) {
      request.done(absl::UnavailableError("too many tokens wait for their review; try again"));
    } else {
      request.done(reviewer_.Review(request.token));
    }
  }
}

}  // namespace reclaim::op
