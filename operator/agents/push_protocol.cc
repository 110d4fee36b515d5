// SPDX-License-Identifier: Apache-2.0
#include "operator/agents/push_protocol.h"

#include "absl/strings/str_cat.h"

namespace reclaim::op {

void PushProtocol::OnHello(const std::string& applied_version) {
  hello_ = true;
  applied_version_ = applied_version;
}

void PushProtocol::SetDesired(std::shared_ptr<const ServedSpec> desired,
                              std::optional<absl::Duration> changed_at) {
  const bool held = desired_ == nullptr;
  const bool same = !held && desired != nullptr && desired_->version == desired->version;
  desired_ = std::move(desired);
  if (same) return;
  const bool is_its_release = held && changed_at.has_value() && changed_at_.has_value() &&
                              *changed_at - *changed_at_ < kReleaseTakes;
  if (!is_its_release) changed_at_ = changed_at;
}

std::optional<kswapd::v1alpha1::SpecPush> PushProtocol::Next() {
  if (!hello_ || in_flight_.has_value() || desired_ == nullptr) return std::nullopt;
  if (desired_->version == applied_version_ || desired_->version == refused_version_) {
    return std::nullopt;
  }
  in_flight_ =
      InFlight{desired_->version, absl::StrCat(nonce_prefix_, "-", ++pushes_), changed_at_};
  kswapd::v1alpha1::SpecPush push;
  push.set_version(in_flight_->version);
  push.set_nonce(in_flight_->nonce);
  push.set_node_spec(desired_->node_spec);
  return push;
}

PushProtocol::AckResult PushProtocol::OnAck(const kswapd::v1alpha1::SpecAck& ack) {
  if (!in_flight_.has_value() || ack.nonce() != in_flight_->nonce) {
    return {Answer::kStale, ack.version(), std::nullopt};
  }
  const InFlight answered = *std::move(in_flight_);
  in_flight_.reset();
  if (ack.has_error()) {
    refused_version_ = answered.version;
    refusal_ = ack.error().empty() ? "the agent gives no reason" : ack.error();
    return {Answer::kNack, answered.version, std::nullopt};
  }
  applied_version_ = answered.version;
  refused_version_.clear();
  refusal_.clear();
  return {Answer::kAck, answered.version, answered.changed_at};
}

const std::string& PushProtocol::refusal() const {
  static const std::string kNone;
  const bool holds = desired_ != nullptr && desired_->version == refused_version_;
  return holds ? refusal_ : kNone;
}

}  // namespace reclaim::op
