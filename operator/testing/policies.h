// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_TESTING_POLICIES_H_
#define RECLAIM_OPERATOR_TESTING_POLICIES_H_

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "operator/policy/content_hash.h"
#include "operator/policy/policy.h"

// Builders for tests: policies and statuses from the JSON that the API has.
namespace reclaim::op {

template <typename Message>
Message FromJson(const std::string& json) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << json << ": " << status.ToString();
  return message;
}

// A policy that has not been released. `age` in seconds: larger is older.
inline Policy NewPolicy(const std::string& name, const std::string& spec_json = "{}", int age = 0) {
  Policy policy;
  policy.name = name;
  policy.uid = absl::StrCat("uid-", name);
  policy.generation = 1;
  policy.created = absl::FromUnixSeconds(1'790'000'000 - age);
  policy.spec = FromJson<kswapd::v1alpha1::ReclaimPolicySpec>(spec_json);
  policy.revision = RevisionOf(policy.spec);
  return policy;
}

// The same, released to the whole fleet.
inline Policy ReleasedPolicy(const std::string& name, const std::string& spec_json = "{}",
                             int age = 0) {
  Policy policy = NewPolicy(name, spec_json, age);
  auto& rollout = *policy.status.mutable_rollout();
  rollout.set_current_revision(policy.revision);
  rollout.set_update_revision(policy.revision);
  rollout.set_step(0);
  rollout.set_threshold(kWholeFleet);
  return policy;
}

// The admin has edited `policy`; nothing has been released since.
inline Policy Edited(Policy policy, const std::string& spec_json) {
  policy.spec = FromJson<kswapd::v1alpha1::ReclaimPolicySpec>(spec_json);
  policy.revision = RevisionOf(policy.spec);
  ++policy.generation;
  return policy;
}

inline std::shared_ptr<const Node> NewNode(
    const std::string& name, absl::flat_hash_map<std::string, std::string> labels = {}) {
  Node node;
  node.name = name;
  node.uid = absl::StrCat("uid-", name);
  node.labels = std::move(labels);
  node.ready = true;
  return std::make_shared<const Node>(std::move(node));
}

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_TESTING_POLICIES_H_
