// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/content_hash.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"

namespace reclaim::op {
namespace {

kswapd::v1alpha1::ReclaimPolicySpec Spec(const std::string& json) {
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &spec);
  EXPECT_TRUE(status.ok()) << json << ": " << status.ToString();
  return spec;
}

TEST(RevisionOf, NamesWhatNodesRunAndNothingElse) {
  const std::string base = R"({"kswapd":{"workers":4}})";
  struct Case {
    const char* name;
    const char* json;
    bool same;
  };
  const Case cases[] = {
      {"itself", R"({"kswapd":{"workers":4}})", true},
      {"selection is not content",
       R"({"kswapd":{"workers":4},"nodeSelector":{"matchLabels":{"a":"1"}},"priority":7})", true},
      {"pausing is not content", R"({"kswapd":{"workers":4},"paused":true})", true},
      {"how it rolls out is not content",
       R"({"kswapd":{"workers":4},"rollout":{"steps":[{"nodes":"10%"}],"onFailure":"Pause",
           "gates":{"refaults":{"maxIncrease":"10%"}}}})",
       true},
      {"a default spelled out", R"({"kswapd":{"workers":4},"mode":"Enforce","deletion":"Restore"})",
       true},
      {"an empty group", R"({"kswapd":{"workers":4},"vm":{},"watermarks":{},"lruGen":{}})", true},
      {"workers", R"({"kswapd":{"workers":5}})", false},
      {"mode", R"({"kswapd":{"workers":4},"mode":"Observe"})", false},
      {"deletion", R"({"kswapd":{"workers":4},"deletion":"Keep"})", false},
      {"a setting at zero is not absent", R"({"kswapd":{"workers":4},"vm":{"swappiness":0}})",
       false},
      {"a target", R"({"kswapd":{"workers":4},"proactiveReclaim":[{"name":"a"}]})", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RevisionOf(Spec(base)) == RevisionOf(Spec(c.json)), c.same) << c.name;
  }
}

// The revision is stored in status.rollout: a new release of the operator must compute the same.
TEST(RevisionOf, IsStableAcrossReleases) {
  EXPECT_EQ(RevisionOf(Spec(R"({"kswapd":{"workers":4}})")), "cd1e8b62f4dfc7f9");
}

TEST(NodePart, KeepsTheGates) {
  const auto part = NodePart(
      Spec(R"({"rollout":{"steps":[{"nodes":1}],"gates":{"refaults":{"maxIncrease":"10%"}}}})"));
  EXPECT_EQ(part.rollout().gates().refaults().max_increase(), "10%");
  EXPECT_EQ(part.rollout().steps_size(), 0);
}

TEST(SerializeDeterministically, IgnoresTheOrderOfMapInsertion) {
  kswapd::v1alpha1::LabelSelector a;
  kswapd::v1alpha1::LabelSelector b;
  for (int i = 0; i < 50; ++i) {
    (*a.mutable_match_labels())[absl::StrCat("k", i)] = "v";
    (*b.mutable_match_labels())[absl::StrCat("k", 49 - i)] = "v";
  }
  EXPECT_EQ(SerializeDeterministically(a), SerializeDeterministically(b));
}

TEST(PlaceOf, IsUniformBelowTheWholeFleetAndDiffersByPolicy) {
  constexpr int kNodes = 20000;
  std::vector<int> tenths(10);
  int same_tenth = 0;
  for (int i = 0; i < kNodes; ++i) {
    const std::string uid = absl::StrCat("node-uid-", i);
    const int32_t place = PlaceOf("policy-a", uid);
    ASSERT_GE(place, 0);
    ASSERT_LT(place, kWholeFleet);
    const auto tenth = [](int32_t p) { return static_cast<int>(int64_t{p} * 10 / kWholeFleet); };
    ++tenths[tenth(place)];
    if (tenth(place) == tenth(PlaceOf("policy-b", uid))) ++same_tenth;
  }
  // 2000 expected; the standard deviation is 42.
  for (int count : tenths) EXPECT_NEAR(count, kNodes / 10.0, 250);
  EXPECT_NEAR(same_tenth, kNodes / 10.0, 250);
}

TEST(PlaceOf, IsStableAcrossReleases) { EXPECT_EQ(PlaceOf("policy", "node"), 1786330524); }

}  // namespace
}  // namespace reclaim::op
