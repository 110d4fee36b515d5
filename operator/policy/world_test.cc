// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kswapd/v1alpha1/agent.pb.h"
#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using Nodes = std::vector<std::shared_ptr<const Node>>;

TEST(World, SerializesEqualContentOnce) {
  Nodes nodes;
  for (int i = 0; i < 100; ++i) {
    nodes.push_back(NewNode(absl::StrCat("n", i), {{"gold", i < 50 ? "yes" : "no"}}));
  }
  const auto world = World::Build(
      {ReleasedPolicy("all"),
       ReleasedPolicy("gold", R"({"priority":1,"nodeSelector":{"matchLabels":{"gold":"yes"}}})")},
      nodes, nullptr);
  EXPECT_EQ(world->spec_count(), 2u);
  EXPECT_EQ(world->FindNode("n1")->spec, world->FindNode("n2")->spec);
  EXPECT_NE(world->FindNode("n1")->spec->version, world->FindNode("n99")->spec->version);
  EXPECT_EQ(world->FindNode("n1")->policy, "gold");
  EXPECT_EQ(world->FindPolicyPlan("gold")->nodes.size(), 50u);
  EXPECT_EQ(world->FindPolicyPlan("all")->nodes.size(), 50u);
}

TEST(World, ServesNoPolicyExplicitly) {
  const auto world = World::Build({}, {NewNode("n")}, nullptr);
  ASSERT_NE(world->FindNode("n")->spec, nullptr);
  kswapd::v1alpha1::NodeSpec spec;
  ASSERT_TRUE(spec.ParseFromString(world->FindNode("n")->spec->node_spec));
  EXPECT_FALSE(spec.has_policy());
  EXPECT_FALSE(world->FindNode("n")->spec->version.empty());
}

TEST(World, HoldsWithoutASpec) {
  const auto world =
      World::Build({Edited(ReleasedPolicy("a"), R"({"kswapd":{"workers":3},"paused":true})")},
                   {NewNode("n")}, nullptr);
  EXPECT_EQ(world->FindNode("n")->spec, nullptr);
  EXPECT_EQ(world->FindNode("n")->hold_reason, "Paused");
  // The policy is still the one in force there.
  EXPECT_THAT(world->FindPolicyPlan("a")->nodes, ElementsAre("n"));
}

TEST(World, BothSidesOfATieKnowIt) {
  const auto world = World::Build({ReleasedPolicy("old", "{}", 9), ReleasedPolicy("new", "{}", 1)},
                                  {NewNode("n1"), NewNode("n2")}, nullptr);
  EXPECT_THAT(world->FindPolicyPlan("old")->tied, ElementsAre(Pair("new", 2)));
  EXPECT_THAT(world->FindPolicyPlan("new")->tied, ElementsAre(Pair("old", 2)));
  EXPECT_THAT(world->FindPolicyPlan("new")->nodes, IsEmpty());
}

TEST(World, FindsNothingUnknown) {
  const auto world = World::Build({ReleasedPolicy("b")}, {}, nullptr);
  EXPECT_EQ(world->FindNode("x"), nullptr);
  EXPECT_EQ(world->FindPolicy("a"), nullptr);
  EXPECT_EQ(world->FindPolicy("c"), nullptr);
  EXPECT_EQ(world->FindPolicy("b")->name, "b");
  EXPECT_EQ(world->FindPolicyPlan("a"), nullptr);
}

TEST(ChangedNodes, NamesOnlyThoseThatMustHear) {
  const Policy gold = ReleasedPolicy("gold", R"({"kswapd":{"workers":2},"priority":1,
                                 "nodeSelector":{"matchLabels":{"gold":"yes"}}})");
  const Nodes nodes = {NewNode("g", {{"gold", "yes"}}), NewNode("i")};
  const auto first = World::Build({gold}, nodes, nullptr);
  EXPECT_THAT(ChangedNodes(nullptr, *first), ElementsAre("g", "i"));

  const auto same = World::Build({gold}, nodes, first.get());
  EXPECT_THAT(ChangedNodes(first.get(), *same), IsEmpty());
  EXPECT_EQ(first->FindNode("g")->spec, same->FindNode("g")->spec);

  Policy edited = Edited(gold, R"({"kswapd":{"workers":3},"priority":1,
                                   "nodeSelector":{"matchLabels":{"gold":"yes"}}})");
  const auto pending = World::Build({edited}, nodes, same.get());
  edited.status.mutable_rollout()->set_update_revision(edited.revision);
  const auto released = World::Build({edited}, nodes, pending.get());
  EXPECT_THAT(ChangedNodes(pending.get(), *released), ElementsAre("g"));

  const auto gone = World::Build({edited}, {nodes[0]}, released.get());
  EXPECT_THAT(ChangedNodes(released.get(), *gone), ElementsAre("i"));

  Node reborn = *nodes[0];
  reborn.uid = "another";
  const auto replaced = World::Build({edited}, {std::make_shared<const Node>(reborn)}, gone.get());
  EXPECT_THAT(ChangedNodes(gone.get(), *replaced), ElementsAre("g"));
}

TEST(ChangedPolicies, NamesThoseWhoseStatusMayDiffer) {
  const Policy a = ReleasedPolicy("a", "{}", 9);
  const Policy b = ReleasedPolicy("b", R"({"priority":-1})");
  const auto first = World::Build({a, b}, {NewNode("n")}, nullptr);
  EXPECT_THAT(ChangedPolicies(nullptr, *first), ElementsAre("a", "b"));
  EXPECT_THAT(ChangedPolicies(first.get(), *World::Build({b, a}, {NewNode("n")}, nullptr)),
              IsEmpty());
  EXPECT_THAT(ChangedPolicies(first.get(), *World::Build({a, b}, {}, nullptr)), ElementsAre("a"));
  const auto tie = World::Build({a, Edited(b, R"({"priority":0})")}, {NewNode("n")}, nullptr);
  EXPECT_THAT(ChangedPolicies(first.get(), *tie), ElementsAre("a", "b"));
  EXPECT_THAT(ChangedPolicies(first.get(), *World::Build({a}, {NewNode("n")}, nullptr)), IsEmpty());
}

}  // namespace
}  // namespace reclaim::op
