// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_APPLY_NOT_IMPLEMENTED_H_
#define RECLAIM_NODE_AGENT_APPLY_NOT_IMPLEMENTED_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/message.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::agent {

// How a field of the API is dealt with.
enum class FieldHandling {
  kHandled,    // with all that is in it: by the agent, or by the operator
  kContainer,  // a message; its fields have entries of their own
};
struct FieldEntry {
  absl::string_view path;  // JSON names, joined with dots
  FieldHandling handling;
};

// What this version handles. Every field that stands in neither table is reported as
// NotImplemented, so that a field added to the API can be forgotten by nobody.
absl::Span<const FieldEntry> SpecFields();    // of ReclaimPolicySpec
absl::Span<const FieldEntry> TargetFields();  // of ProactiveReclaimTarget

// JSON paths of the fields that are set in `message` and not handled, in the order of the API:
// "lruGen.enabled", "kswapd.auto". A field that this version does not even know (a newer operator
// sent it) is "kswapd.#17". Pure.
std::vector<std::string> FindUnimplemented(const google::protobuf::Message& message,
                                           absl::Span<const FieldEntry> fields);

// What an agent that runs alone does not apply of a spec. Pure.
struct AloneFields {
  // Set, and for the operator of a cluster: nodeSelector, priority, rollout.
  std::vector<std::string> meaningless;
  std::vector<std::string> unimplemented;  // FindUnimplemented, without what is in `meaningless`
};
AloneFields FindAlone(const kswapd::v1alpha1::ReclaimPolicySpec& spec);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_APPLY_NOT_IMPLEMENTED_H_
