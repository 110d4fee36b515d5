// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/proactive_reclaimer.h"

#include <errno.h>

#include <atomic>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "common/reasons.h"
#include "common/simulated_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMi = int64_t{1024} * 1024;
constexpr char kNode0[] = "/sys/devices/system/node/node0/reclaim";
constexpr char kNode1[] = "/sys/devices/system/node/node1/reclaim";

TargetPlan NumaPlan(std::vector<int> numa_nodes, int64_t bytes_per_second = kMi) {
  TargetPlan plan;
  plan.name = "cache";
  plan.numa_nodes = std::move(numa_nodes);
  plan.rate = {bytes_per_second, absl::Seconds(1)};
  plan.rate_text = "1Mi/s";
  return plan;
}

class ProactiveReclaimerTest : public testing::Test {
 protected:
  ProactiveReclaimerTest() {
    for (int i : {0, 1}) {
      host_.Put(absl::StrCat("sys/devices/system/node/node", i, "/reclaim"), "");
      host_.Put(absl::StrCat("sys/devices/system/node/node", i, "/vmstat"),
                "pgsteal_proactive 0\n");
    }
  }
  // The kernel takes all but `short_by` pages of what it is asked.
  void AnswerNode(int numa_node, int64_t short_by, int error) {
    writer_.Answer(absl::StrCat("/sys/devices/system/node/node", numa_node, "/reclaim"),
                   [=, this](absl::string_view text) {
                     int64_t bytes = 0;
                     EXPECT_TRUE(absl::SimpleAtoi(text.substr(0, text.find(' ')), &bytes)) << text;
                     taken_[numa_node] += bytes / PageBytes() - short_by;
                     host_.Put(absl::StrCat("sys/devices/system/node/node", numa_node, "/vmstat"),
                               absl::StrCat("pgsteal_proactive ", taken_[numa_node], "\n"));
                     return error;
                   });
  }
  // One chunk of a target on NUMA node 0 whose swappiness the kernel does not take.
  void RunARefusedTarget() {
    AnswerNode(0, 256, EINVAL);
    TargetPlan plan = NumaPlan({0});
    plan.swappiness = "max";
    reclaimer_.SetTargets({plan}, ApplyMode::kEnforce);
    clock_.Advance(absl::Seconds(1));
    reclaimer_.RunDue();
  }
  TargetReport Report() { return reclaimer_.Reports().at(0); }

  FakeHost host_;
  HostFiles files_{host_.Paths()};
  ScriptedWriter writer_;
  SimulatedClock clock_;
  ProactiveReclaimer reclaimer_{files_, writer_, clock_};
  int64_t taken_[2] = {0, 0};
};

TEST_F(ProactiveReclaimerTest, AsksForTheRateAndCountsWhatItGot) {
  AnswerNode(0, 0, 0);
  AnswerNode(1, 0, 0);
  reclaimer_.SetTargets({NumaPlan({0, 1})}, ApplyMode::kEnforce);
  EXPECT_GT(reclaimer_.RunDue(), absl::Milliseconds(900));  // no credit yet
  EXPECT_THAT(writer_.writes(), IsEmpty());
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(absl::Seconds(1));
    EXPECT_EQ(reclaimer_.RunDue(), absl::ZeroDuration());
    EXPECT_GT(reclaimer_.RunDue(), absl::Milliseconds(900));
  }
  EXPECT_THAT(writer_.writes(),
              ElementsAre(absl::StrCat(kNode0, "=", kMi), absl::StrCat(kNode1, "=", kMi),
                          absl::StrCat(kNode0, "=", kMi), absl::StrCat(kNode1, "=", kMi)));
  EXPECT_EQ(Report().requested_bytes, 4 * kMi);
  EXPECT_EQ(Report().reclaimed_bytes, 4 * kMi);
  EXPECT_EQ(Report().reason, reason::kReclaiming);
  EXPECT_EQ(Report().message, "1Mi/s over 2 NUMA nodes");
}

TEST_F(ProactiveReclaimerTest, CountsEagainAndWhatWasTakenAllTheSame) {
  AnswerNode(0, 200, EAGAIN);
  reclaimer_.SetTargets({NumaPlan({0})}, ApplyMode::kEnforce);
  clock_.Advance(absl::Seconds(1));
  reclaimer_.RunDue();
  EXPECT_EQ(Report().eagain_total, 1u);
  EXPECT_EQ(Report().errors_total, 0u);
  EXPECT_EQ(Report().reclaimed_bytes, kMi - 200 * PageBytes());
  EXPECT_EQ(Report().reason, reason::kReclaiming);
  clock_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(reclaimer_.RunDue(), absl::Milliseconds(500));  // rests
}

TEST_F(ProactiveReclaimerTest, ReportsARefusalUntilItWorksAgain) {
  RunARefusedTarget();
  EXPECT_EQ(Report().reason, reason::kRefused);
  EXPECT_THAT(Report().message,
              HasSubstr("asked 1048576 bytes with swappiness=max, the kernel says EINVAL"));
  EXPECT_EQ(Report().errors_total, 1u);
  AnswerNode(0, 0, 0);
  clock_.Advance(absl::Seconds(2));
  reclaimer_.RunDue();
  EXPECT_EQ(Report().reason, reason::kReclaiming);
}

TEST_F(ProactiveReclaimerTest, ARefusalEndsWithTheSpecThatWasRefused) {
  RunARefusedTarget();
  ASSERT_EQ(Report().reason, reason::kRefused);
  reclaimer_.SetTargets({NumaPlan({0}, 0)},
                        ApplyMode::kEnforce);  // a rate of 0: no chunk will tell
  EXPECT_EQ(Report().reason, reason::kReclaiming);
  EXPECT_EQ(Report().errors_total, 1u);  // counters go on
}

TEST_F(ProactiveReclaimerTest, ARefusalEndsWithItsPlace) {
  TargetPlan plan = NumaPlan({});
  plan.cgroup_patterns = {"/pods/*"};
  host_.Put("sys/fs/cgroup/pods/a/memory.reclaim", "");
  writer_.Answer("/sys/fs/cgroup/pods/a/memory.reclaim", [](absl::string_view) { return EINVAL; });
  reclaimer_.SetTargets({plan}, ApplyMode::kEnforce);
  clock_.Advance(absl::Seconds(1));
  reclaimer_.RunDue();
  ASSERT_EQ(Report().reason, reason::kRefused);
  host_.Remove("sys/fs/cgroup/pods/a");
  clock_.Advance(ProactiveReclaimer::kExpandInterval);
  reclaimer_.RunDue();
  EXPECT_EQ(Report().reason, reason::kNoCgroupsMatched);
  EXPECT_EQ(Report().message, "no cgroup of this node matches /pods/* now");
}

TEST_F(ProactiveReclaimerTest, NamesNumaNodesThatAreNotThere) {
  AnswerNode(0, 0, 0);
  reclaimer_.SetTargets({NumaPlan({0, 7, 9})}, ApplyMode::kEnforce);
  EXPECT_EQ(Report().reason, reason::kReclaiming);
  EXPECT_EQ(Report().message,
            "1Mi/s over 1 NUMA node; not over 2 more: there is no "
            "/sys/devices/system/node/node7/reclaim");
}

TEST_F(ProactiveReclaimerTest, PlacesThatRefuseAndPlacesThatWorkMakeOneStableReport) {
  AnswerNode(0, 0, 0);
  AnswerNode(1, 256, EINVAL);
  reclaimer_.SetTargets({NumaPlan({0, 1})}, ApplyMode::kEnforce);
  for (int i = 0; i < 2; ++i) {  // both have been tried
    clock_.Advance(absl::Seconds(2));
    reclaimer_.RunDue();
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Report().reason, reason::kReclaiming);
    EXPECT_EQ(
        Report().message,
        absl::StrCat("1Mi/s over 2 NUMA nodes; 1 of 2 places refuses: asked 1048576 bytes, the "
                     "kernel says EINVAL (Invalid argument) (",
                     kNode1, ")"));
    clock_.Advance(absl::Seconds(2));
    reclaimer_.RunDue();
  }
  EXPECT_GT(Report().errors_total, 1u);
  // All of them: nothing is reclaimed.
  AnswerNode(0, 256, EINVAL);
  clock_.Advance(absl::Seconds(2));
  reclaimer_.RunDue();
  EXPECT_EQ(Report().reason, reason::kRefused);
  EXPECT_THAT(Report().message, HasSubstr("all 2 places refuse: asked 1048576 bytes"));
}

TEST_F(ProactiveReclaimerTest, ObserveFollowsCgroupsThatComeAndGo) {
  TargetPlan plan = NumaPlan({});
  plan.cgroup_patterns = {"/pods/*"};
  host_.Put("sys/fs/cgroup/pods/a/memory.reclaim", "");
  reclaimer_.SetTargets({plan}, ApplyMode::kObserve);
  EXPECT_THAT(Report().message, HasSubstr("over 1 cgroup"));
  host_.Put("sys/fs/cgroup/pods/b/memory.reclaim", "");
  clock_.Advance(ProactiveReclaimer::kExpandInterval - absl::Seconds(1));
  EXPECT_EQ(reclaimer_.RunDue(), absl::Seconds(1));  // the next expansion
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(reclaimer_.RunDue(), ProactiveReclaimer::kExpandInterval);
  EXPECT_EQ(Report().reason, reason::kObserved);
  EXPECT_THAT(Report().message, HasSubstr("over 2 cgroups"));
}

TEST_F(ProactiveReclaimerTest, ObserveAndPausedReclaimNothing) {
  for (const auto& [mode, word] : {std::pair{ApplyMode::kObserve, reason::kObserved},
                                   std::pair{ApplyMode::kPaused, reason::kPaused}}) {
    reclaimer_.SetTargets({NumaPlan({0})}, mode);
    clock_.Advance(absl::Minutes(1));
    EXPECT_EQ(reclaimer_.RunDue(), ProactiveReclaimer::kExpandInterval);
    EXPECT_EQ(Report().reason, word);
  }
  EXPECT_THAT(writer_.writes(), IsEmpty());
}

TEST_F(ProactiveReclaimerTest, NamesTheMissingFile) {
  host_.Remove("sys/devices/system/node/node0/reclaim");
  reclaimer_.SetTargets({NumaPlan({0})}, ApplyMode::kEnforce);
  clock_.Advance(absl::Minutes(1));
  reclaimer_.RunDue();
  EXPECT_EQ(Report().reason, reason::kUnsupported);
  EXPECT_EQ(Report().message, absl::StrCat("this kernel has no ", kNode0));
}

TEST_F(ProactiveReclaimerTest, ATargetThatMayNotRunSaysWhy) {
  TargetPlan plan = NumaPlan({0});
  plan.refusal_reason = reason::kNotImplemented;
  plan.refusal_message = "limits";
  reclaimer_.SetTargets({plan}, ApplyMode::kEnforce);
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(reclaimer_.RunDue(), absl::InfiniteDuration());
  EXPECT_EQ(Report().reason, reason::kNotImplemented);
  EXPECT_THAT(writer_.writes(), IsEmpty());
}

TEST_F(ProactiveReclaimerTest, FollowsCgroupsThatComeAndGo) {
  TargetPlan plan = NumaPlan({});
  plan.cgroup_patterns = {"/pods/*", "/pods/a"};
  host_.Put("sys/fs/cgroup/pods/a/memory.reclaim", "");
  host_.Put("sys/fs/cgroup/pods/a/memory.stat", "pgsteal_proactive 0\n");
  reclaimer_.SetTargets({plan}, ApplyMode::kEnforce);
  EXPECT_EQ(Report().message, "1Mi/s over 1 cgroup");  // two patterns, one cgroup
  host_.Put("sys/fs/cgroup/pods/b/memory.reclaim", "");
  clock_.Advance(ProactiveReclaimer::kExpandInterval);
  reclaimer_.RunDue();
  EXPECT_EQ(Report().message, "1Mi/s over 2 cgroups");
  host_.Remove("sys/fs/cgroup/pods/a");
  host_.Remove("sys/fs/cgroup/pods/b");
  clock_.Advance(ProactiveReclaimer::kExpandInterval);
  reclaimer_.RunDue();
  EXPECT_EQ(Report().reason, reason::kNoCgroupsMatched);
}

TEST_F(ProactiveReclaimerTest, KeepsCountersOfATargetThatKeepsItsName) {
  AnswerNode(0, 0, 0);
  reclaimer_.SetTargets({NumaPlan({0})}, ApplyMode::kEnforce);
  clock_.Advance(absl::Seconds(1));
  reclaimer_.RunDue();
  reclaimer_.SetTargets({NumaPlan({0}, 2 * kMi)}, ApplyMode::kEnforce);
  EXPECT_EQ(Report().requested_bytes, kMi);
  TargetPlan other = NumaPlan({0});
  other.name = "other";
  reclaimer_.SetTargets({other}, ApplyMode::kEnforce);
  EXPECT_EQ(Report().requested_bytes, 0);
}

TEST_F(ProactiveReclaimerTest, ANewSpecTakesEffectAfterTheChunkInFlight) {
  // The write itself brings the new spec: what a concurrent tick would do, at the worst moment.
  writer_.Answer(kNode0, [this](absl::string_view) {
    reclaimer_.SetTargets({NumaPlan({1})}, ApplyMode::kPaused);
    return 0;
  });
  reclaimer_.SetTargets({NumaPlan({0})}, ApplyMode::kEnforce);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(reclaimer_.RunDue(), absl::ZeroDuration());
  EXPECT_EQ(reclaimer_.RunDue(), ProactiveReclaimer::kExpandInterval);
  EXPECT_EQ(Report().requested_bytes, kMi);  // counted for the target of that name
  EXPECT_EQ(Report().reason, reason::kPaused);
}

TEST_F(ProactiveReclaimerTest, ItsThreadRunsAndStopsWithinOneChunk) {
  SystemClock clock;
  ProactiveReclaimer reclaimer(files_, writer_, clock);
  absl::Notification reclaimed;
  std::atomic<bool> notified = false;
  writer_.Answer(kNode0, [&](absl::string_view) {
    if (!notified.exchange(true)) reclaimed.Notify();
    return 0;
  });
  reclaimer.Start();
  reclaimer.SetTargets({NumaPlan({0}, 1024 * kMi)}, ApplyMode::kEnforce);
  ASSERT_TRUE(reclaimed.WaitForNotificationWithTimeout(absl::Seconds(30)))
      << "waited for the first write to " << kNode0;
  reclaimer.Stop();
  const size_t writes = writer_.writes().size();
  reclaimer.SetTargets({}, ApplyMode::kEnforce);
  EXPECT_EQ(writer_.writes().size(), writes);
}

}  // namespace
}  // namespace reclaim::agent
