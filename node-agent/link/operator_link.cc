// SPDX-License-Identifier: Apache-2.0
#include "node-agent/link/operator_link.h"

#include "absl/strings/str_cat.h"
#include "common/agent_api.h"
#include "common/log.h"
#include "grpcpp/grpcpp.h"
#include "kswapd/v1alpha1/agent.grpc.pb.h"
#include "node-agent/link/agent_stream.h"
#include "node-agent/link/reconnect_delay.h"

namespace reclaim::agent {
namespace {

// In words, as Prometheus labels and logs have it.
std::string CodeName(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return "OK";
    case grpc::StatusCode::CANCELLED:
      return "CANCELLED";
    case grpc::StatusCode::INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case grpc::StatusCode::PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case grpc::StatusCode::UNAUTHENTICATED:
      return "UNAUTHENTICATED";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case grpc::StatusCode::ABORTED:
      return "ABORTED";
    case grpc::StatusCode::UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case grpc::StatusCode::INTERNAL:
      return "INTERNAL";
    case grpc::StatusCode::UNAVAILABLE:
      return "UNAVAILABLE";
    default:
      return absl::StrCat("CODE_", static_cast<int>(code));
  }
}

absl::Duration RandomDelay(int failures) {
  thread_local std::mt19937 random{std::random_device()()};
  return ReconnectDelay(failures, std::uniform_real_distribution<double>(0, 1)(random));
}

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address,
                                          const std::string& server_name,
                                          const std::string& ca_pem) {
  grpc::ChannelArguments arguments;
  // A half-open connection is noticed within 80 s, also on an idle stream.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kAgentKeepaliveSeconds * 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Inside the cluster; a proxy of the environment is for other things.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, kMaxAgentMessageBytes);
  // A new channel is a new connection, with the CA as it now is.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (!server_name.empty()) arguments.SetSslTargetNameOverride(server_name);
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = ca_pem;
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(tls), arguments);
}

}  // namespace

OperatorLink::OperatorLink(Options options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

void OperatorLink::Start(std::function<void(SpecUpdate)> on_spec) {
  on_spec_ = std::move(on_spec);
  thread_ = std::thread([this] { Run(); });
}

void OperatorLink::Stop() {
  std::shared_ptr<AgentStream> stream;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    stream = stream_;
  }
  if (stream != nullptr) stream->Cancel();
  if (thread_.joinable()) thread_.join();
}

void OperatorLink::SetStatus(const kswapd::v1alpha1::NodeReclaimStatus& status,
                             const std::string& version) {
  std::shared_ptr<AgentStream> stream;
  {
    absl::MutexLock lock(&mutex_);
    status_ = status;
    applied_version_ = version;
    stream = stream_;
    if (stream != nullptr) stream->StageStatus(status, version);
  }
  if (stream != nullptr) stream->Flush();
}

LinkStats OperatorLink::Stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

bool OperatorLink::AwaitStatsForTest(const std::function<bool(const LinkStats&)>& holds,
                                     absl::Duration patience) const {
  absl::MutexLock lock(&mutex_);
  const auto held = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return holds(stats_); };
  return mutex_.AwaitWithTimeout(absl::Condition(&held), patience);
}

bool OperatorLink::WaitOrStop(absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&stopping_), time);
  return stopping_;
}

void OperatorLink::Run() {
  int failures = 0;
  while (true) {
    const absl::Duration began = clock_.Monotonic();
    if (!RunStream()) {
      if (WaitOrStop(kCredentialsInterval)) return;
      continue;
    }
    failures = clock_.Monotonic() - began >= kLasted ? 0 : failures + 1;
    const absl::Duration delay =
        options_.delay != nullptr ? options_.delay(failures) : RandomDelay(failures);
    if (WaitOrStop(delay)) return;
  }
}

bool OperatorLink::RunStream() {
  absl::StatusOr<OperatorCredentials> credentials =
      ReadOperatorCredentials(options_.ca_file, options_.token_file);
  if (!credentials.ok()) {
    NoteEnd("NO_CREDENTIALS", std::string(credentials.status().message()));
    return false;
  }
  const std::shared_ptr<grpc::Channel> channel =
      NewChannel(options_.address, options_.server_name, credentials->ca_pem);
  const auto stub = kswapd::v1alpha1::NodeAgentService::NewStub(channel);
  const std::shared_ptr<AgentStream> stream = NewStream();
  kswapd::v1alpha1::Hello hello;
  hello.set_agent_version(options_.agent_version);
  hello.set_node_name(options_.node_name);
  {
    absl::MutexLock lock(&mutex_);
    hello.set_applied_version(applied_version_);
  }
  stream->Begin(*stub, credentials->token, std::move(hello));
  bool stopping;
  {
    absl::MutexLock lock(&mutex_);
    stream_ = stream;
    if (status_.has_value()) stream->StageStatus(*status_, applied_version_);
    stopping = stopping_;
  }
  if (stopping) stream->Cancel();
  stream->Flush();
  const grpc::Status end = stream->AwaitDone();
  {
    absl::MutexLock lock(&mutex_);
    stream_ = nullptr;
  }
  NoteEnd(CodeName(end.error_code()), end.error_message());
  return true;
}

std::shared_ptr<AgentStream> OperatorLink::NewStream() {
  AgentStream::Events events;
  events.connected = [this] {
    {
      absl::MutexLock lock(&mutex_);
      stats_.connected = true;
      ++stats_.connects_total;
      last_error_.clear();
    }
    LogInfo("connected to the operator", {{"address", options_.address}});
  };
  events.accepted = [this](SpecUpdate update) {
    {
      absl::MutexLock lock(&mutex_);
      ++stats_.accepted_total;
    }
    on_spec_(std::move(update));
  };
  events.refused = [this](const std::string& version, const std::string& error) {
    {
      absl::MutexLock lock(&mutex_);
      ++stats_.refused_total;
    }
    LogError("spec refused", {{"version", version}, {"error", error}});
  };
  events.status_sent = [this] {
    absl::MutexLock lock(&mutex_);
    ++stats_.statuses_total;
  };
  return std::make_shared<AgentStream>(std::move(events));
}

// The same trouble again and again is counted, and logged once.
void OperatorLink::NoteEnd(const std::string& code, const std::string& message) {
  absl::MutexLock lock(&mutex_);
  ++stats_.ends_total[code];
  const bool was_connected = std::exchange(stats_.connected, false);
  const std::string error = absl::StrCat(code, ": ", message);
  if (!was_connected && error == last_error_) return;
  last_error_ = error;
  if (stopping_) return;
  LogWarning("not connected to the operator",
             {{"address", options_.address}, {"code", code}, {"error", message}});
}

}  // namespace reclaim::agent
