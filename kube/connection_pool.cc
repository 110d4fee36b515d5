// SPDX-License-Identifier: Apache-2.0
#include "kube/connection_pool.h"

#include <utility>

#include "absl/status/status.h"

namespace reclaim::kube {

ConnectionPool::ConnectionPool(const ClientConfig& config, Clock& clock,
                               const TransportOptions& options)
    : config_(config), clock_(clock), options_(options) {}

ConnectionPool::Lease::~Lease() {
  if (connection_ != nullptr) pool_->Return(std::move(connection_), pooled_, keep_alive_);
}

std::unique_ptr<Connection> ConnectionPool::TakeIdle(uint64_t generation) {
  // Newest first: the others may then grow old and be closed.
  while (!idle_.empty()) {
    Idle idle = std::move(idle_.back());
    idle_.pop_back();
    if (idle.connection->generation() == generation &&
        clock_.Monotonic() - idle.since <= options_.max_idle && idle.connection->Reusable()) {
      return std::move(idle.connection);
    }
  }
  return nullptr;
}

absl::StatusOr<ConnectionPool::Lease> ConnectionPool::Acquire(
    std::shared_ptr<const TlsMaterial> material, bool fresh, absl::Duration deadline) {
  std::unique_ptr<Connection> idle;
  {
    absl::MutexLock lock(&mutex_);
    const bool has_turn = mutex_.AwaitWithTimeout(absl::Condition(this, &ConnectionPool::HasTurn),
                                                  deadline - clock_.Monotonic());
    if (!has_turn) return absl::DeadlineExceededError("all connections are in use");
    if (shut_down_) return absl::CancelledError("the transport is shut down");
    ++in_use_;
    if (!fresh) idle = TakeIdle(material->generation);
  }
  if (idle != nullptr) return Wrap(std::move(idle), /*pooled=*/true, /*reused=*/true);
  return Wrap(Connection::New(config_, std::move(material), options_.connect_timeout),
              /*pooled=*/true, /*reused=*/false);
}

absl::StatusOr<ConnectionPool::Lease> ConnectionPool::AcquireUnpooled(
    std::shared_ptr<const TlsMaterial> material) {
  return Wrap(Connection::New(config_, std::move(material), options_.connect_timeout),
              /*pooled=*/false, /*reused=*/false);
}

absl::StatusOr<ConnectionPool::Lease> ConnectionPool::Wrap(
    absl::StatusOr<std::unique_ptr<Connection>> connection, bool pooled, bool reused) {
  absl::MutexLock lock(&mutex_);
  if (!connection.ok() || shut_down_) {
    if (pooled) --in_use_;
    return connection.ok() ? absl::CancelledError("the transport is shut down")
                           : connection.status();
  }
  leased_.insert(connection->get());
  return Lease(*this, *std::move(connection), pooled, reused);
}

void ConnectionPool::Return(std::unique_ptr<Connection> connection, bool pooled, bool keep_alive) {
  absl::MutexLock lock(&mutex_);
  leased_.erase(connection.get());
  if (!pooled) return;
  --in_use_;
  if (keep_alive && !shut_down_) idle_.push_back({std::move(connection), clock_.Monotonic()});
}

void ConnectionPool::Shutdown() {
  absl::MutexLock lock(&mutex_);
  shut_down_ = true;
  idle_.clear();
  for (Connection* connection : leased_) connection->Abort();
}

}  // namespace reclaim::kube
