// SPDX-License-Identifier: Apache-2.0
#include "common/grpc_log.h"

#include <grpc/support/log.h>

#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "common/log.h"

namespace reclaim {
namespace {

constexpr absl::Duration kRepeatAfter = absl::Minutes(1);
constexpr size_t kMaxRemembered = 100;

struct State {
  absl::Mutex mutex;
  std::function<void()> on_handshake_failure ABSL_GUARDED_BY(mutex);
  absl::flat_hash_map<std::string, absl::Time> logged ABSL_GUARDED_BY(mutex);  // when last
};

State& GetState() {
  static auto& state = *new State;
  return state;
}

// The text of src/core/tsi/ssl_transport_security.cc; agent_server_test holds it true.
bool IsHandshakeFailure(absl::string_view message) {
  return absl::StartsWith(message, "Handshake failed with");
}

void OnGrpcLog(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  const absl::string_view message = args->message;
  State& state = GetState();
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&state.mutex);
  if (IsHandshakeFailure(message) && state.on_handshake_failure) state.on_handshake_failure();
  if (state.logged.size() > kMaxRemembered) state.logged.clear();
  auto [entry, is_new] = state.logged.try_emplace(message, now);
  if (!is_new && now - entry->second < kRepeatAfter) return;
  entry->second = now;
  LogWarning("grpc", {{"message", message}});
}

}  // namespace

void RouteGrpcLog(std::function<void()> on_handshake_failure) {
  State& state = GetState();
  {
    absl::MutexLock lock(&state.mutex);
    state.on_handshake_failure = std::move(on_handshake_failure);
  }
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function(OnGrpcLog);
}

}  // namespace reclaim
