// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/mutex.h"
#include "common/simulated_clock.h"
#include "common/testing/eventually.h"
#include "operator/testing/policies.h"

namespace reclaim::op {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlannerTest : public testing::Test {
 protected:
  Planner::Input Read() {
    absl::MutexLock lock(&mutex_);
    ++reads_;
    return {{workers_ > 0 ? std::vector<Policy>{ReleasedPolicy(
                                "p", absl::StrCat(R"({"kswapd":{"workers":)", workers_, "}}"))}
                          : std::vector<Policy>{}},
            {NewNode("n")}};
  }

  void Change(int workers) {
    absl::MutexLock lock(&mutex_);
    workers_ = workers;
  }

  std::vector<Planner::Output> Outputs() {
    absl::MutexLock lock(&mutex_);
    return outputs_;
  }

  SystemClock clock_;
  prometheus::Registry registry_;
  absl::Mutex mutex_;
  int workers_ ABSL_GUARDED_BY(mutex_) = 0;
  int reads_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Planner::Output> outputs_ ABSL_GUARDED_BY(mutex_);
  Planner planner_{[this] { return Read(); },
                   [this](Planner::Output output) {
                     absl::MutexLock lock(&mutex_);
                     outputs_.push_back(std::move(output));
                   },
                   clock_, registry_};
};

TEST_F(PlannerTest, TheFirstPlanNamesEveryNode) {
  planner_.PlanNow();
  ASSERT_EQ(Outputs().size(), 1u);
  EXPECT_THAT(Outputs()[0].nodes, ElementsAre("n"));
  EXPECT_NE(Outputs()[0].world->FindNode("n"), nullptr);
}

TEST_F(PlannerTest, PlansAgainWhenPokedAndNamesWhatChanged) {
  planner_.PlanNow();
  planner_.Start();
  planner_.Poke();
  ASSERT_TRUE(Eventually("a second plan", [&] { return Outputs().size() == 2; }));
  EXPECT_THAT(Outputs()[1].nodes, IsEmpty());
  Change(3);
  const absl::Duration before = clock_.Monotonic();
  planner_.Poke();
  ASSERT_TRUE(Eventually("a third plan", [&] { return Outputs().size() == 3; }));
  EXPECT_THAT(Outputs()[2].nodes, ElementsAre("n"));
  EXPECT_THAT(Outputs()[2].policies, ElementsAre("p"));
  EXPECT_GE(Outputs()[2].changed_at, before);
  EXPECT_TRUE(planner_.Healthy().ok());
}

TEST_F(PlannerTest, ManyPokesAreOnePlan) {
  planner_.PlanNow();
  for (int i = 0; i < 1000; ++i) planner_.Poke();
  planner_.Start();
  ASSERT_TRUE(Eventually("a second plan", [&] { return Outputs().size() >= 2; }));
  planner_.Stop();
  EXPECT_EQ(Outputs().size(), 2u);
}

TEST_F(PlannerTest, ChangesBeforeTheFirstPlanDoNotCountAsWaiting) {
  SimulatedClock clock;
  prometheus::Registry registry;
  // Never comes to plan what it is poked for.
  Planner planner([this] { return Read(); }, [](const Planner::Output&) {}, clock, registry,
                  {.coalesce = absl::Hours(1)});
  planner.Poke();
  clock.Advance(2 * Planner::kHung);  // the caches were slow
  EXPECT_TRUE(planner.Healthy().ok());
  planner.PlanNow();
  planner.Start();
  EXPECT_TRUE(planner.Healthy().ok()) << planner.Healthy();
  planner.Poke();
  clock.Advance(Planner::kHung);
  EXPECT_FALSE(planner.Healthy().ok()) << "this one waits";
}

TEST_F(PlannerTest, NoPokeIsLost) {
  planner_.PlanNow();
  planner_.Start();
  for (int workers = 1; workers <= 16; ++workers) {
    Change(workers);
    planner_.Poke();
  }
  EXPECT_TRUE(Eventually("the last change to be planned", [&] {
    const auto outputs = Outputs();
    return !outputs.back().world->policies().empty() &&
           outputs.back().world->policies()[0].spec.kswapd().workers() == 16;
  }));
}

}  // namespace
}  // namespace reclaim::op
