// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/host/kswapd_worker.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

constexpr uint64_t kKernelFlags = 2230336;  // of a real kswapd: PF_KSWAPD among them
constexpr uint64_t kUserFlags = 4194560;

class KswapdFinderTest : public testing::Test {
 protected:
  void PutProcess(int pid, const std::string& comm, uint64_t flags, uint64_t stime = 0) {
    host_.Put(absl::StrCat("proc/", pid, "/stat"),
              absl::StrCat(pid, " (", comm, ") S 2 0 0 0 -1 ", flags, " 0 0 0 0 0 ", stime,
                           " 0 0 20 0 1 0 155\n"));
  }
  std::vector<std::string> Find(size_t expected, absl::Duration now) {
    std::vector<std::string> found;
    const std::vector<KswapdWorker> workers = finder_.Find(expected, now).value();
    for (const KswapdWorker& worker : workers) {
      found.push_back(absl::StrCat(worker.numa_node, ":", worker.worker, "@", worker.pid));
    }
    return found;
  }
  FakeHost host_;
  HostFiles files_{host_.Paths()};
  KswapdFinder finder_{files_};
};

TEST_F(KswapdFinderTest, FindsTheThreadsOfARealKernel) {
  host_.PutCaptured("linux-7.3.4");
  const std::vector<KswapdWorker> workers = finder_.Find(2, absl::Seconds(1)).value();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].pid, 58);
  EXPECT_EQ(workers[0].cpu_time, absl::Nanoseconds(4639213));
  EXPECT_EQ(workers[1].numa_node, 1);
}

TEST_F(KswapdFinderTest, FindsTheWorkersOfAPatchedKernel) {
  host_.PutCaptured("linux-7.3.4-reclaim");  // 3 workers for NUMA node 0, 2 for 1
  EXPECT_THAT(Find(5, absl::Seconds(1)),
              testing::ElementsAre("0:0@76", "0:1@97", "0:2@98", "1:0@77", "1:1@99"));
}

TEST_F(KswapdFinderTest, IsNotFooledByAProcessThatCallsItselfKswapd) {
  PutProcess(58, "kswapd0", kKernelFlags);
  PutProcess(900, "kswapd0:1", kUserFlags);
  EXPECT_THAT(Find(2, absl::Seconds(1)), testing::ElementsAre("0:0@58"));
}

TEST_F(KswapdFinderTest, FallsBackToTicksWithoutSchedstat) {
  PutProcess(58, "kswapd0", kKernelFlags, 250);
  EXPECT_EQ(finder_.Find(1, absl::Seconds(1))->at(0).cpu_time,
            absl::Seconds(1) * 250 / sysconf(_SC_CLK_TCK));
}

TEST_F(KswapdFinderTest, WalksAgainWhenTheExpectedNumberChanges) {
  PutProcess(58, "kswapd0", kKernelFlags);
  EXPECT_THAT(Find(1, absl::Seconds(1)), testing::ElementsAre("0:0@58"));
  PutProcess(70, "kswapd0:1", kKernelFlags);
  EXPECT_THAT(Find(2, absl::Seconds(2)), testing::ElementsAre("0:0@58", "0:1@70"));
}

TEST_F(KswapdFinderTest, WalksAtMostOnceAMinuteForThreadsThatDoNotCome) {
  PutProcess(58, "kswapd0", kKernelFlags);
  EXPECT_THAT(Find(2, absl::Seconds(1)), testing::ElementsAre("0:0@58"));
  PutProcess(70, "kswapd0:1", kKernelFlags);
  EXPECT_THAT(Find(2, absl::Seconds(59)), testing::ElementsAre("0:0@58"));
  EXPECT_THAT(Find(2, absl::Seconds(61)), testing::ElementsAre("0:0@58", "0:1@70"));
}

TEST_F(KswapdFinderTest, LeavesOutAThreadThatEnded) {
  PutProcess(58, "kswapd0", kKernelFlags);
  PutProcess(70, "kswapd0:1", kKernelFlags);
  EXPECT_THAT(Find(2, absl::Seconds(1)), testing::SizeIs(2));
  host_.Remove("proc/70");
  EXPECT_THAT(Find(1, absl::Seconds(2)), testing::ElementsAre("0:0@58"));
}

TEST_F(KswapdFinderTest, SaysThatProcIsMissing) {
  EXPECT_THAT(std::string(finder_.Find(1, absl::Seconds(1)).status().message()),
              testing::HasSubstr("/proc"));
}

}  // namespace
}  // namespace reclaim::agent
