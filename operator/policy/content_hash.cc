// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/content_hash.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <openssl/sha.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace reclaim::op {
namespace {

using kswapd::v1alpha1::ReclaimPolicySpec;

std::array<unsigned char, SHA256_DIGEST_LENGTH> Sha256(absl::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

}  // namespace

std::string ContentHash(absl::string_view bytes) {
  const auto digest = Sha256(bytes);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest.data()), 8));
}

std::string SerializeDeterministically(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

ReclaimPolicySpec NodePart(const ReclaimPolicySpec& spec) {
  ReclaimPolicySpec part = spec;
  part.clear_node_selector();
  part.clear_priority();
  part.clear_paused();
  if (part.mode() == ReclaimPolicySpec::MODE_UNSPECIFIED) part.set_mode(ReclaimPolicySpec::Enforce);
  if (part.deletion() == ReclaimPolicySpec::DELETION_UNSPECIFIED) {
    part.set_deletion(ReclaimPolicySpec::Restore);
  }
  if (part.kswapd().ByteSizeLong() == 0) part.clear_kswapd();
  if (part.watermarks().ByteSizeLong() == 0) part.clear_watermarks();
  if (part.vm().ByteSizeLong() == 0) part.clear_vm();
  if (part.lru_gen().ByteSizeLong() == 0) part.clear_lru_gen();
  if (part.has_rollout()) {
    part.mutable_rollout()->clear_steps();
    part.mutable_rollout()->clear_on_failure();
    if (part.rollout().gates().ByteSizeLong() == 0) part.clear_rollout();
  }
  return part;
}

std::string RevisionOf(const ReclaimPolicySpec& spec) {
  ReclaimPolicySpec part = NodePart(spec);
  part.clear_rollout();
  return ContentHash(SerializeDeterministically(part));
}

int32_t PlaceOf(absl::string_view policy_uid, absl::string_view node_uid) {
  const auto digest = Sha256(absl::StrCat(policy_uid, "/", node_uid));
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | digest[i];
  return static_cast<int32_t>(value % kWholeFleet);
}

}  // namespace reclaim::op
