// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_CONNECTION_POOL_H_
#define RECLAIM_KUBE_CONNECTION_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "kube/connection.h"
#include "kube/credentials.h"
#include "kube/transport.h"

namespace reclaim::kube {

// The connections of one transport: a bounded number for requests, kept alive between them, and any
// number for streams, each used once.
//
// Thread-safe. Must outlive its leases.
class ConnectionPool {
 public:
  ConnectionPool(const ClientConfig& config, Clock& clock, const TransportOptions& options);

  // The right to use one connection; gives it back, or closes it, when it goes.
  class Lease {
   public:
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Connection& connection() { return *connection_; }
    // It has carried a request before, so its peer may be about to close it.
    bool reused() const { return reused_; }
    // The exchange went well: keep the connection. Without this call it is closed.
    void KeepAlive() { keep_alive_ = true; }

   private:
    friend class ConnectionPool;
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection, bool pooled, bool reused)
        : pool_(&pool), connection_(std::move(connection)), pooled_(pooled), reused_(reused) {}

    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;  // null after a move
    bool pooled_;
    bool reused_;
    bool keep_alive_ = false;
  };

  // For one request. Waits for a turn until `deadline` (Clock::Monotonic); `fresh` asks for a
  // connection that was not used before. kDeadlineExceeded, kCancelled after Shutdown.
  absl::StatusOr<Lease> Acquire(std::shared_ptr<const TlsMaterial> material, bool fresh,
                                absl::Duration deadline);

  // For one stream; does not count against the bound.
  absl::StatusOr<Lease> AcquireUnpooled(std::shared_ptr<const TlsMaterial> material);

  // Aborts all that is under way and refuses the rest.
  void Shutdown();

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    absl::Duration since;
  };

  bool HasTurn() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return shut_down_ || in_use_ < options_.max_connections;
  }
  std::unique_ptr<Connection> TakeIdle(uint64_t generation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Lease> Wrap(absl::StatusOr<std::unique_ptr<Connection>> connection, bool pooled,
                             bool reused);
  void Return(std::unique_ptr<Connection> connection, bool pooled, bool keep_alive);

  const ClientConfig config_;
  Clock& clock_;
  const TransportOptions options_;
  absl::Mutex mutex_;
  int in_use_ ABSL_GUARDED_BY(mutex_) = 0;  // leases of Acquire
  std::vector<Idle> idle_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<Connection*> leased_ ABSL_GUARDED_BY(mutex_);
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_CONNECTION_POOL_H_
