// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/reasons.h"
#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

using Kind = Decision::Kind;

const char kGold[] = R"("nodeSelector":{"matchLabels":{"tier":"gold"}})";

std::string Gold(const std::string& rest) { return absl::StrCat("{", kGold, ",", rest, "}"); }

Policy Invalid(Policy policy) {
  policy.invalid = "spec.kswapd.workers must be 1 to 16";
  return policy;
}

struct Case {
  const char* name;
  std::vector<Policy> policies;
  Kind kind;
  const char* winner = "";
  const char* reason = "";
  const char* hold = "";
  std::vector<std::string> tied = {};
};

TEST(Resolve, DecidesForAGoldNode) {
  const Policy a = ReleasedPolicy("a", R"({"kswapd":{"workers":2}})", 10);
  const Case cases[] = {
      {"no policies", {}, Kind::kNoPolicy},
      {"only match", {a}, Kind::kServe, "a", "OnlyMatch"},
      {"selector does not match",
       {ReleasedPolicy("x", R"({"nodeSelector":{"matchLabels":{"tier":"iron"}}})")},
       Kind::kNoPolicy},
      {"a policy that does not match is no competitor",
       {a, ReleasedPolicy("x", R"({"priority":9,"nodeSelector":{"matchLabels":{"tier":"iron"}}})")},
       Kind::kServe,
       "a",
       "OnlyMatch"},
      {"higher priority wins",
       {a, ReleasedPolicy("b", Gold(R"("priority":1)"))},
       Kind::kServe,
       "b",
       "HighestPriority"},
      {"absent priority is 0 and beats a negative one",
       {a, ReleasedPolicy("b", R"({"priority":-1})", 99)},
       Kind::kServe,
       "a",
       "HighestPriority"},
      {"priority 0 spelled out ties with an absent one",
       {a, ReleasedPolicy("b", R"({"priority":0})", 5)},
       Kind::kServe,
       "a",
       "OlderWinsTie",
       "",
       {"b"}},
      {"older wins a tie",
       {ReleasedPolicy("z", "{}", 99), a},
       Kind::kServe,
       "z",
       "OlderWinsTie",
       "",
       {"a"}},
      {"same age: the smaller name wins",
       {ReleasedPolicy("b", "{}", 10), a},
       Kind::kServe,
       "a",
       "OlderWinsTie",
       "",
       {"b"}},
      {"a lower one is no part of the tie",
       {a, ReleasedPolicy("b", "{}", 5), ReleasedPolicy("c", R"({"priority":-5})")},
       Kind::kServe,
       "a",
       "OlderWinsTie",
       "",
       {"b"}},
      {"a new policy disturbs nobody before its release",
       {a, NewPolicy("b", R"({"priority":9})")},
       Kind::kServe,
       "a",
       "OnlyMatch"},
      {"alone and not released", {NewPolicy("b")}, Kind::kNoPolicy},
      {"a new policy that is not valid disturbs nobody",
       {a, Invalid(NewPolicy("b", R"({"priority":9})"))},
       Kind::kServe,
       "a",
       "OnlyMatch"},
      {"an edit holds until it is released",
       {Edited(a, R"({"kswapd":{"workers":3}})")},
       Kind::kHold,
       "a",
       "OnlyMatch",
       reason::kRolloutPending},
      {"a paused edit holds",
       {Edited(a, R"({"kswapd":{"workers":3},"paused":true})")},
       Kind::kHold,
       "a",
       "OnlyMatch",
       reason::kPaused},
      {"a paused policy without an edit is served, to new nodes too",
       {Edited(a, R"({"kswapd":{"workers":2},"paused":true})")},
       Kind::kServe,
       "a",
       "OnlyMatch"},
      {"an edit that asks for rollout steps holds",
       {Edited(a, R"({"kswapd":{"workers":3},"rollout":{"steps":[{"nodes":1}]}})")},
       Kind::kHold,
       "a",
       "OnlyMatch",
       reason::kNotImplemented},
      {"rollout steps without another edit are served",
       {Edited(a, R"({"kswapd":{"workers":2},"rollout":{"steps":[{"nodes":1}]}})")},
       Kind::kServe,
       "a",
       "OnlyMatch"},
      {"an edit that is not valid holds",
       {Invalid(Edited(a, R"({"kswapd":{"workers":99}})"))},
       Kind::kHold,
       "a",
       "OnlyMatch",
       reason::kInvalidSpec},
      {"a held policy still beats a lower one",
       {Invalid(Edited(ReleasedPolicy("b", R"({"priority":9})"),
                       R"({"priority":9,"kswapd":{"workers":99}})")),
        a},
       Kind::kHold,
       "b",
       "HighestPriority",
       reason::kInvalidSpec},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Decision decision = Resolve(c.policies, *NewNode("n", {{"tier", "gold"}}));
    EXPECT_EQ(decision.kind, c.kind);
    EXPECT_EQ(decision.winner == nullptr ? "" : decision.winner->name, c.winner);
    EXPECT_EQ(decision.reason, c.reason);
    EXPECT_EQ(decision.hold_reason, c.hold);
    std::vector<std::string> tied;
    for (const Policy* policy : decision.tied) tied.push_back(policy->name);
    EXPECT_EQ(tied, c.tied);
  }
}

TEST(Resolve, SaysWhyInWords) {
  const std::vector<Policy> lower = {ReleasedPolicy("a", R"({"priority":7})"),
                                     ReleasedPolicy("b", R"({"priority":3})"),
                                     ReleasedPolicy("c", R"({"priority":5})")};
  EXPECT_EQ(Resolve(lower, *NewNode("n")).message, "priority 7; next is c with 5");
  const std::vector<Policy> tie = {ReleasedPolicy("a", "{}", 3), ReleasedPolicy("b", "{}", 2),
                                   ReleasedPolicy("c", "{}", 1)};
  EXPECT_EQ(Resolve(tie, *NewNode("n")).message,
            "priority 0 is also that of b, c; the older policy wins");
}

// Half way through a rollout the nodes below the threshold get the new spec and nobody else.
TEST(Resolve, ThresholdDividesTheFleet) {
  Policy policy = ReleasedPolicy("a", R"({"kswapd":{"workers":2}})");
  const std::string old_revision = policy.revision;
  policy = Edited(policy, R"({"kswapd":{"workers":4}})");
  policy.status.mutable_rollout()->set_update_revision(policy.revision);
  policy.status.mutable_rollout()->set_threshold(kWholeFleet / 4);
  int served = 0;
  constexpr int kNodes = 4000;
  for (int i = 0; i < kNodes; ++i) {
    const auto node = NewNode(absl::StrCat("n", i));
    const Decision decision = Resolve({&policy, 1}, *node);
    if (PlaceOf(policy.uid, node->uid) < kWholeFleet / 4) {
      ++served;
      EXPECT_EQ(decision.kind, Kind::kServe);
      EXPECT_EQ(decision.revision, policy.revision);
    } else {
      EXPECT_EQ(decision.kind, Kind::kHold);
      EXPECT_EQ(decision.revision, old_revision);
    }
  }
  EXPECT_NEAR(served, kNodes / 4.0, 120);
}

TEST(MakeNodeSpec, NamesThePolicyAndLeavesOutWhoIsSelected) {
  const std::vector<Policy> policies = {
      ReleasedPolicy("a", Gold(R"("priority":7,"kswapd":{"workers":4})"))};
  const auto spec = MakeNodeSpec(Resolve(policies, *NewNode("n", {{"tier", "gold"}})));
  EXPECT_EQ(spec.policy().name(), "a");
  EXPECT_EQ(spec.policy().uid(), "uid-a");
  EXPECT_EQ(spec.policy().generation(), 1);
  EXPECT_EQ(spec.policy().revision(), policies[0].revision);
  EXPECT_EQ(spec.policy().reason(), "OnlyMatch");
  EXPECT_EQ(spec.spec().kswapd().workers(), 4);
  EXPECT_FALSE(spec.spec().has_node_selector());
  EXPECT_FALSE(spec.spec().has_priority());
}

TEST(MakeNodeSpec, NoPolicyIsSaidWithoutPolicyAndSpec) {
  const auto spec = MakeNodeSpec(Resolve({}, *NewNode("n")));
  EXPECT_FALSE(spec.has_policy());
  EXPECT_FALSE(spec.has_spec());
}

// Random fleets for the properties below: few labels and priorities, so that ties are common.
class ResolveProperties : public testing::Test {
 protected:
  int Draw(int n) { return static_cast<int>(random_() % n); }

  Policy RandomPolicy(int index) {
    const std::string labels[] = {"{}", R"({"matchLabels":{"a":"0"}})",
                                  R"({"matchExpressions":[{"key":"a","operator":"NotIn",
                                      "values":["0","1"]}]})",
                                  R"({"matchExpressions":[{"key":"b","operator":"Exists"}]})"};
    Policy policy =
        ReleasedPolicy(absl::StrCat("p", index),
                       absl::StrCat(R"({"kswapd":{"workers":)", 1 + Draw(4), R"(},"priority":)",
                                    Draw(3), R"(,"nodeSelector":)", labels[Draw(4)], "}"),
                       Draw(3));
    if (Draw(5) == 0) policy.status.mutable_rollout()->set_update_revision("older");
    if (Draw(5) == 0) policy.status.mutable_rollout()->set_threshold(Draw(kWholeFleet));
    if (Draw(8) == 0) policy.status.clear_rollout();
    return policy;
  }

  std::shared_ptr<const Node> RandomNode(int index) {
    absl::flat_hash_map<std::string, std::string> labels;
    if (Draw(3) > 0) labels["a"] = absl::StrCat(Draw(3));
    if (Draw(2) > 0) labels["b"] = "x";
    return NewNode(absl::StrCat("n", index), std::move(labels));
  }

  // Everything a decision says, as text.
  static std::string Describe(const Decision& decision) {
    std::string text =
        absl::StrCat(static_cast<int>(decision.kind), " ", decision.revision, " ",
                     decision.hold_reason, " ", decision.reason, " ", decision.message, " tied:");
    for (const Policy* policy : decision.tied) absl::StrAppend(&text, policy->name, ",");
    if (decision.kind != Kind::kHold) {
      absl::StrAppend(&text, MakeNodeSpec(decision).ShortDebugString());
    }
    return text;
  }

  std::mt19937 random_{20261130};
};

TEST_F(ResolveProperties, OrderOfThePoliciesDoesNotMatter) {
  for (int round = 0; round < 500; ++round) {
    std::vector<Policy> policies;
    for (int i = 0; i < 1 + Draw(8); ++i) policies.push_back(RandomPolicy(i));
    const auto node = RandomNode(round);
    const std::string expected = Describe(Resolve(policies, *node));
    std::shuffle(policies.begin(), policies.end(), random_);
    ASSERT_EQ(Describe(Resolve(policies, *node)), expected) << "round " << round;
  }
}

TEST_F(ResolveProperties, APolicyThatDoesNotSelectTheNodeChangesNothing) {
  for (int round = 0; round < 500; ++round) {
    std::vector<Policy> policies;
    for (int i = 0; i < Draw(8); ++i) policies.push_back(RandomPolicy(i));
    const auto node = RandomNode(round);
    const std::string expected = Describe(Resolve(policies, *node));
    policies.insert(policies.begin() + Draw(static_cast<int>(policies.size()) + 1),
                    ReleasedPolicy("unrelated", R"({"priority":1000,"kswapd":{"workers":9},
                        "nodeSelector":{"matchLabels":{"nobody":"has-this"}}})"));
    ASSERT_EQ(Describe(Resolve(policies, *node)), expected) << "round " << round;
  }
}

TEST_F(ResolveProperties, RaisingTheThresholdOnlyEverMovesNodesToTheUpdate) {
  Policy policy = ReleasedPolicy("a");
  policy.status.mutable_rollout()->set_current_revision("older");
  for (int round = 0; round < 500; ++round) {
    const auto node = RandomNode(round);
    const int low = Draw(kWholeFleet);
    policy.status.mutable_rollout()->set_threshold(low);
    const bool before = Resolve({&policy, 1}, *node).kind == Kind::kServe;
    policy.status.mutable_rollout()->set_threshold(low + Draw(kWholeFleet - low));
    const bool after = Resolve({&policy, 1}, *node).kind == Kind::kServe;
    ASSERT_TRUE(after || !before) << "round " << round;
  }
}

}  // namespace
}  // namespace reclaim::op
