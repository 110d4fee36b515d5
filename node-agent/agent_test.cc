// SPDX-License-Identifier: Apache-2.0
// Whole rounds over a fake host: what a spec does to the files, the status and the view.
#include "node-agent/agent.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "common/reasons.h"
#include "common/simulated_clock.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::NodeReclaimStatus;
using testing::HasSubstr;

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    host_.PutCaptured("linux-7.3.4");
    host_.Put("sys/fs/cgroup/memory.reclaim", "");
    Restart();
  }

  // As after kill -9, with nobody but the files to ask.
  void Restart(bool alone = false) {
    agent_.reset();
    const std::string boot_id = host_.Get("proc/sys/kernel/random/boot_id");
    journal_ = std::make_unique<Journal>(
        Journal::Open(host_.StateDir() + "/journal.json", boot_id).value());
    checkpoint_ = std::make_unique<Checkpoint>(host_.StateDir() + "/checkpoint.pb");
    reclaimer_ = std::make_unique<ProactiveReclaimer>(files_, writer_, clock_);
    agent_ = std::make_unique<Agent>(
        Agent::Parts{.files = files_,
                     .writer = writer_,
                     .clock = clock_,
                     .journal = *journal_,
                     .reclaimer = *reclaimer_,
                     .checkpoint = alone ? nullptr : checkpoint_.get(),
                     .policy_file = alone ? &policy_file_ : nullptr,
                     .publish =
                         [this](const NodeReclaimStatus& status, const std::string& version) {
                           absl::MutexLock lock(&mutex_);
                           status_ = status;
                           version_ = version;
                         },
                     .tick = absl::Seconds(5)});
  }

  void PutWorkerFiles() {
    for (int i : {0, 1}) {
      host_.Put(absl::StrCat("sys/devices/system/node/node", i, "/kswapd_threads"), "1\n");
    }
  }

  // One round with `spec_text` offered; empty: without an offer.
  NodeReclaimStatus Tick(const std::string& spec_text = "", const std::string& version = "v1") {
    if (!spec_text.empty()) {
      SpecUpdate update;
      update.version = version;
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(spec_text, &update.spec));
      agent_->Offer(std::move(update));
    }
    agent_->Tick();
    absl::MutexLock lock(&mutex_);
    return status_;
  }

  static std::string Condition(const NodeReclaimStatus& status, const std::string& type) {
    for (const auto& condition : status.conditions()) {
      if (condition.type() == type)
        return absl::StrCat(condition.status(), " ", condition.reason());
    }
    return "absent";
  }
  static std::string Message(const NodeReclaimStatus& status, const std::string& type) {
    for (const auto& condition : status.conditions()) {
      if (condition.type() == type) return condition.message();
    }
    return "absent";
  }
  static std::string Reason(const NodeReclaimStatus& status, const std::string& setting) {
    for (const auto& s : status.settings()) {
      if (s.name() == setting) return s.reason();
    }
    return "absent";
  }

  FakeHost host_;
  HostFiles files_{host_.Paths()};
  ScriptedWriter writer_;
  SimulatedClock clock_;
  PolicyFile policy_file_{host_.root() + "/policy.yaml"};
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<ProactiveReclaimer> reclaimer_;
  std::unique_ptr<Agent> agent_;
  absl::Mutex mutex_;
  NodeReclaimStatus status_ ABSL_GUARDED_BY(mutex_);
  std::string version_ ABSL_GUARDED_BY(mutex_);
};

constexpr char kFourWorkers[] =
    "policy { name: 'four' generation: 3 revision: 'r1' }"
    "spec { kswapd { workers: 4 } vm { swappiness: 45 } watermarks { scale_factor: 25 } }";

TEST_F(AgentTest, AppliesASpecOnAPatchedKernel) {
  PutWorkerFiles();
  const NodeReclaimStatus status = Tick(kFourWorkers);
  EXPECT_EQ(host_.Get("sys/devices/system/node/node1/kswapd_threads"), "4");
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
  EXPECT_EQ(status.workers().desired(), "4");
  EXPECT_EQ(status.workers().effective(), "4");
  EXPECT_EQ(Condition(status, "Applied"), "True AllSettingsApplied");
  EXPECT_EQ(Condition(status, "Supported"), "True AllSupported");
  EXPECT_EQ(Condition(status, "Degraded"), "False AsExpected");
  EXPECT_EQ(Condition(status, "Healthy"), "Unknown NoGates");
  EXPECT_EQ(status.conditions(0).observed_generation(), 3);
  EXPECT_EQ(status.policy().name(), "four");
  EXPECT_EQ(status.kernel().release(), "7.3.4+deb13-cloud-amd64");
}

TEST_F(AgentTest, OnAStockKernelNamesTheMissingFileAndAppliesTheRest) {
  const NodeReclaimStatus status = Tick(kFourWorkers);
  EXPECT_EQ(Condition(status, "Supported"), "False Unsupported");
  EXPECT_THAT(Message(status, "Supported"), HasSubstr("node0/kswapd_threads"));
  EXPECT_EQ(Reason(status, "kswapd.workers"), "Unsupported");
  EXPECT_EQ(Condition(status, "Applied"), "True AllSettingsApplied");
  EXPECT_EQ(Message(status, "Applied"), "2 entries in force, 1 that this kernel does not support");
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
  EXPECT_EQ(status.workers().desired(), "4");
  EXPECT_EQ(status.workers().effective(), "");
}

TEST_F(AgentTest, SummarizesWorkersThatDiffer) {
  PutWorkerFiles();
  const NodeReclaimStatus status =
      Tick("policy { name: 'p' } spec { kswapd { workers: 4 numa_nodes { node: 1 workers: 2 } } }");
  EXPECT_EQ(status.workers().desired(), "4,2");
  EXPECT_EQ(status.workers().effective(), "4,2");
}

TEST_F(AgentTest, SaysWhatItDoesNotApply) {
  const NodeReclaimStatus status = Tick(
      "policy { name: 'p' } spec { lru_gen { enabled: true } kswapd { auto { min: 1 max: 4 } }"
      " proactive_reclaim { name: 't' scope { node {} } goal { free_memory: '1Gi' } } }");
  EXPECT_EQ(Reason(status, "lruGen.enabled"), "NotImplemented");
  EXPECT_EQ(Reason(status, "kswapd.auto"), "NotImplemented");
  ASSERT_EQ(status.targets_size(), 1);
  EXPECT_EQ(status.targets(0).reason(), "NotImplemented");
  EXPECT_EQ(Condition(status, "Applied"), "False NotImplemented");
}

TEST_F(AgentTest, ObserveAndPausedAreNotApplied) {
  EXPECT_EQ(Condition(Tick("policy { name: 'p' } spec { mode: Observe vm { swappiness: 1 } }"),
                      "Applied"),
            "False Observed");
  EXPECT_EQ(Condition(Tick("policy { name: 'p' } spec { paused: true vm { swappiness: 1 } }", "v2"),
                      "Applied"),
            "False Paused");
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "60\n");
}

TEST_F(AgentTest, ObserveSaysWhatItWouldNotApply) {
  const NodeReclaimStatus status = Tick(
      "policy { name: 'p' } spec { mode: Observe vm { swappiness: 1 }"
      " kswapd { auto { min: 1 max: 4 } } }");
  EXPECT_EQ(Condition(status, "Applied"), "False NotImplemented");
  EXPECT_EQ(Message(status, "Applied"),
            "mode is Observe: nothing is written. In Enforce: spec.kswapd.auto: this version does "
            "not apply it");
}

TEST_F(AgentTest, RestoresWhenTheOperatorSaysThatThereIsNoPolicy) {
  Tick(kFourWorkers);
  SpecUpdate none;
  none.version = "v2";
  agent_->Offer(none);
  const NodeReclaimStatus status = Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "60");
  EXPECT_FALSE(status.has_policy());
  EXPECT_EQ(Condition(status, "Applied"), "True NoPolicy");
  EXPECT_EQ(Reason(status, "vm.swappiness"), "Restored");
}

TEST_F(AgentTest, RestoresNothingWhenItEnds) {
  Tick(kFourWorkers);
  agent_.reset();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
}

TEST_F(AgentTest, WorksFromItsCheckpointWithNoOperator) {
  Tick(kFourWorkers);
  Restart();
  host_.Put("proc/sys/vm/swappiness", "90\n");
  const NodeReclaimStatus status = Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
  EXPECT_EQ(Reason(status, "vm.swappiness"), "Overridden");
  EXPECT_EQ(status.policy().name(), "four");
  absl::MutexLock lock(&mutex_);
  EXPECT_EQ(version_, "v1");
}

TEST_F(AgentTest, StartsWithoutCheckpointAndTouchesNothing) {
  const NodeReclaimStatus status = Tick();
  EXPECT_THAT(writer_.writes(), testing::IsEmpty());
  EXPECT_EQ(Condition(status, "Applied"), "Unknown SettingsPending");
}

TEST_F(AgentTest, ALostCheckpointIsNotTakenForNoPolicy) {
  Tick(kFourWorkers);
  host_.Remove("state/checkpoint.pb");
  Restart();
  Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
  // Now it is said, and the original is still known.
  SpecUpdate none;
  none.version = "v2";
  agent_->Offer(none);
  Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "60");
}

TEST_F(AgentTest, ADamagedCheckpointIsReportedAndTouchesNothing) {
  Tick(kFourWorkers);
  host_.Put("state/checkpoint.pb", "\xff\xff");
  Restart();
  const NodeReclaimStatus status = Tick();
  EXPECT_EQ(Condition(status, "Degraded"), "True Unreadable");
  EXPECT_THAT(Message(status, "Degraded"), HasSubstr("checkpoint.pb is not a checkpoint"));
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
}

TEST_F(AgentTest, AfterABootThatEndedInAWriteItWaitsForTheOperator) {
  const std::string spec = "policy { name: 'p' } spec { vm { swappiness: 30 } }";
  Tick(spec);
  journal_->Find({"vm.swappiness", std::nullopt})->pending = 30;  // the machine goes down here
  ASSERT_TRUE(journal_->Save().ok());
  host_.Put("proc/sys/kernel/random/boot_id", "the next boot\n");
  host_.Put("proc/sys/vm/swappiness", "60\n");
  Restart();
  const NodeReclaimStatus status = Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "60\n");
  EXPECT_THAT(Message(status, "Degraded"), HasSubstr("went down while a setting"));
  EXPECT_EQ(Condition(Tick("policy { name: 'p' } spec { }", "v2"), "Degraded"), "False AsExpected");
  Restart();  // the operator has spoken: what it said holds from now on
  EXPECT_EQ(Condition(Tick(), "Degraded"), "False AsExpected");
  Tick(spec, "v3");
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "30");
}

TEST_F(AgentTest, SaysWhichOriginalsADamagedJournalHasLost) {
  Tick("policy { name: 'p' } spec { vm { swappiness: 30 } }");
  host_.Put("state/journal.json", "garbage");
  Restart();
  Tick();
  Restart();  // the damage is history, what was lost is not
  const NodeReclaimStatus status = Tick();
  EXPECT_THAT(Message(status, "Degraded"), HasSubstr("not known of vm.swappiness"));
}

TEST_F(AgentTest, AppliesASpecThatItCannotKeepAndSaysSo) {
  host_.Put("state/checkpoint.pb.new/in-the-way", "");
  const NodeReclaimStatus status = Tick(kFourWorkers);
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
  EXPECT_THAT(Message(status, "Degraded"), HasSubstr("cannot be kept for a restart"));
  EXPECT_EQ(agent_->View()->checkpoint_errors_total, 1u);
}

TEST_F(AgentTest, KeepsASpecForARestartAsSoonAsItCan) {
  Tick("policy { name: 'old' } spec { vm { swappiness: 30 } }", "v0");
  host_.Put("state/checkpoint.pb.new/in-the-way", "");
  Tick(kFourWorkers);
  EXPECT_THAT(Message(Tick(), "Degraded"), HasSubstr("cannot be kept for a restart"));
  const uint64_t errors = agent_->View()->checkpoint_errors_total;
  host_.Remove("state/checkpoint.pb.new");
  // A reconnect brings the same version; it makes no difference.
  EXPECT_EQ(Condition(Tick(kFourWorkers), "Degraded"), "False AsExpected");
  EXPECT_EQ(agent_->View()->checkpoint_errors_total, errors);
  Restart();
  EXPECT_EQ(Tick().policy().name(), "four");
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "45");
}

TEST_F(AgentTest, TheStatusOfAQuietRoundIsTheSameBytes) {
  PutWorkerFiles();
  const std::string first = Tick(kFourWorkers).SerializeAsString();
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(absl::Seconds(5));
    EXPECT_EQ(Tick().SerializeAsString(), first);
  }
}

TEST_F(AgentTest, ByteCountsOfTargetsAreRefreshedEveryFiveMinutes) {
  writer_.Answer("/sys/devices/system/node/node0/reclaim", [](absl::string_view) { return 0; });
  host_.Put("sys/devices/system/node/node0/reclaim", "");
  Tick(
      "policy { name: 'p' } spec { proactive_reclaim { name: 't' scope { numa_nodes: 0 }"
      " goal { rate: '1Mi/s' } } }");
  clock_.Advance(absl::Seconds(10));
  reclaimer_->RunDue();
  EXPECT_EQ(Tick().targets(0).requested(), "1Mi");  // it has begun: not a zero for five minutes
  clock_.Advance(absl::Seconds(10));
  reclaimer_->RunDue();
  EXPECT_EQ(Tick().targets(0).requested(), "1Mi");
  EXPECT_EQ(agent_->View()->targets.at(0).requested_bytes, 2 << 20);  // metrics do not wait
  clock_.Advance(Agent::kAmountsInterval);
  EXPECT_EQ(Tick().targets(0).requested(), "2Mi");
}

TEST_F(AgentTest, AloneItFollowsItsFileAndKeepsTheLastGoodPolicy) {
  const std::string head =
      "apiVersion: kswapd.dev/v1alpha1\nkind: ReclaimPolicy\nmetadata: {name: f}\n";
  host_.Put("policy.yaml", head + "spec: {vm: {swappiness: 30}}\n");
  Restart(/*alone=*/true);
  Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "30");
  host_.Put("policy.yaml", head + "spec: {vm: {swappiness: many}}\n");
  NodeReclaimStatus status = Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "30");
  EXPECT_THAT(Message(status, "Degraded"), HasSubstr("policy.yaml:4: spec.vm.swappiness"));
  EXPECT_EQ(agent_->View()->policy_file_errors_total, 1u);
  host_.Put("policy.yaml", head + "spec: {vm: {swappiness: 31}}\n");
  status = Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "31");
  EXPECT_EQ(Condition(status, "Degraded"), "False AsExpected");
}

TEST_F(AgentTest, AloneItSaysWhichFieldsAreForACluster) {
  host_.Put("policy.yaml",
            "apiVersion: kswapd.dev/v1alpha1\nkind: ReclaimPolicy\nmetadata: {name: f}\n"
            "spec:\n  nodeSelector: {matchLabels: {pool: db}}\n  priority: 5\n"
            "  rollout: {steps: [{nodes: 1, soak: 1m}], gates: {degraded: {maxNodes: 1}}}\n"
            "  vm: {swappiness: 30}\n");
  Restart(/*alone=*/true);
  const NodeReclaimStatus status = Tick();
  EXPECT_EQ(host_.Get("proc/sys/vm/swappiness"), "30");
  for (const char* field : {"nodeSelector", "priority", "rollout"}) {
    EXPECT_EQ(Reason(status, field), "NotImplemented") << field;
  }
  EXPECT_THAT(status.ShortDebugString(), HasSubstr("has no meaning with --policy"));
  // The file is the same as a cluster's; that is no fault.
  EXPECT_EQ(Reason(status, "rollout.gates"), "absent");
  EXPECT_EQ(Condition(status, "Applied"), "True AllSettingsApplied");

  Restart();
  EXPECT_EQ(Reason(Tick("policy { name: 'p' } spec { priority: 5 }"), "priority"), "absent");
}

TEST_F(AgentTest, LivenessEndsWhenTheTickIsStuck) {
  EXPECT_TRUE(absl::IsUnavailable(agent_->Readiness()));
  Tick();
  EXPECT_TRUE(agent_->Readiness().ok());
  EXPECT_TRUE(agent_->Liveness().ok());
  clock_.Advance(absl::Minutes(2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(agent_->Liveness()));
}

TEST_F(AgentTest, ItsThreadWakesAtOnceForANewSpec) {
  SystemClock clock;
  Agent agent({.files = files_,
               .writer = writer_,
               .clock = clock,
               .journal = *journal_,
               .reclaimer = *reclaimer_,
               .checkpoint = checkpoint_.get(),
               .publish =
                   [this](const NodeReclaimStatus& status, const std::string& version) {
                     absl::MutexLock lock(&mutex_);
                     status_ = status;
                     version_ = version;
                   },
               .tick = absl::Hours(1)});
  agent.Start();
  for (const char* version : {"a", "b"}) {
    SpecUpdate update;
    update.version = version;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kFourWorkers, &update.spec));
    agent.Offer(std::move(update));
    absl::MutexLock lock(&mutex_);
    const auto applied = [&]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return version_ == version; };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&applied), absl::Seconds(60)))
        << "waited for version " << version << " to be applied; it is " << version_;
  }
  agent.Stop();
}

}  // namespace
}  // namespace reclaim::agent
