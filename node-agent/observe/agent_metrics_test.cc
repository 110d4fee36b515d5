// SPDX-License-Identifier: Apache-2.0
#include "node-agent/observe/agent_metrics.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/process_metrics.h"
#include "common/simulated_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/observe/metric_rows.h"
#include "node-agent/observe/snapshot.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// "name{label=value,…} number" of every sample.
std::vector<std::string> Samples(const std::vector<prometheus::MetricFamily>& families) {
  std::vector<std::string> samples;
  for (const auto& family : families) {
    for (const auto& metric : family.metric) {
      std::string labels;
      for (const auto& label : metric.label) {
        absl::StrAppend(&labels, labels.empty() ? "" : ",", label.name, "=", label.value);
      }
      const double value = family.type == prometheus::MetricType::Counter ? metric.counter.value
                                                                          : metric.gauge.value;
      samples.push_back(absl::StrCat(family.name, "{", labels, "} ", value));
    }
  }
  return samples;
}

std::vector<std::string> SamplesOf(const std::vector<std::string>& samples,
                                   const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& sample : samples) {
    if (sample.rfind(name + "{", 0) == 0) found.push_back(sample.substr(name.size()));
  }
  return found;
}

Snapshot ReadHost(const FakeHost& host) {
  const HostFiles files(host.Paths());
  SimulatedClock clock;
  return SnapshotReader(files, clock).Read();
}

TEST(HostFamiliesTest, OfARealKernelWithPerNumaNodeCounters) {
  FakeHost host;
  host.PutCaptured("linux-7.3.4");
  const Snapshot snapshot = ReadHost(host);
  EXPECT_THAT(snapshot.read_errors, IsEmpty());
  const std::vector<std::string> samples = Samples(HostFamilies(snapshot));
  EXPECT_EQ(SamplesOf(samples, "reclaim_pgscan_pages_total").size(), 8u);  // 2 NUMA nodes x 4
  EXPECT_THAT(samples, Contains("reclaim_pgsteal_pages_total{numa_node=1,reclaimer=kswapd} 0"));
  EXPECT_THAT(samples,
              Contains("reclaim_zone_watermark_bytes{numa_node=0,zone=DMA,watermark=min} 778240"));
  EXPECT_THAT(samples, Contains("reclaim_allocstall_total{zone=normal} 0"));
  EXPECT_THAT(SamplesOf(samples, "reclaim_kswapd_workers_running"),
              ElementsAre("{numa_node=0} 1", "{numa_node=1} 1"));
  EXPECT_THAT(SamplesOf(samples, "reclaim_kswapd_cpu_seconds_total"),
              Contains("{numa_node=0,worker=0} 0.00463921"));
}

TEST(HostFamiliesTest, OfAPatchedKernelWithSeveralWorkers) {
  FakeHost host;
  host.PutCaptured("linux-7.3.4-reclaim");
  const std::vector<std::string> samples = Samples(HostFamilies(ReadHost(host)));
  EXPECT_THAT(SamplesOf(samples, "reclaim_kswapd_workers_effective"),
              ElementsAre("{numa_node=0} 3", "{numa_node=1} 2"));
  EXPECT_THAT(SamplesOf(samples, "reclaim_kswapd_workers_running"),
              ElementsAre("{numa_node=0} 3", "{numa_node=1} 2"));
  EXPECT_THAT(SamplesOf(samples, "reclaim_kswapd_cpu_seconds_total"), testing::SizeIs(5));
}

TEST(HostFamiliesTest, OfARealKernelThatCountsReclaimersOnlyGlobally) {
  FakeHost host;
  host.PutCaptured("linux-6.18");
  const std::vector<std::string> samples = Samples(HostFamilies(ReadHost(host)));
  const std::vector<std::string> scans = SamplesOf(samples, "reclaim_pgscan_pages_total");
  EXPECT_EQ(scans.size(), 4u);
  for (const std::string& scan : scans) EXPECT_THAT(scan, Not(HasSubstr("numa_node=0")));
  // Refaults have been per NUMA node for long.
  EXPECT_EQ(SamplesOf(samples, "reclaim_workingset_refault_pages_total").size(), 2u);
}

TEST(HostFamiliesTest, MissingIsNotZero) {
  FakeHost host;
  host.PutCaptured("linux-7.3.4");
  host.Remove("proc/pressure");
  host.Remove("proc/zoneinfo");
  const Snapshot snapshot = ReadHost(host);
  EXPECT_THAT(snapshot.read_errors, IsEmpty());  // a kernel without them is no error
  const std::vector<std::string> samples = Samples(HostFamilies(snapshot));
  for (const char* absent :
       {"reclaim_memory_pressure_some_seconds_total", "reclaim_zone_watermark_bytes",
        "reclaim_zone_free_bytes", "reclaim_kswapd_hopeless", "reclaim_kswapd_workers_effective"}) {
    EXPECT_THAT(SamplesOf(samples, absent), IsEmpty()) << absent;
  }
}

TEST(HostFamiliesTest, UnreadableIsAbsentAndSaid) {
  FakeHost host;
  host.PutCaptured("linux-7.3.4");
  host.Put("proc/pressure/memory", "gibberish\n");
  AgentView view;
  view.snapshot = ReadHost(host);
  EXPECT_THAT(
      SamplesOf(Samples(HostFamilies(view.snapshot)), "reclaim_memory_pressure_some_seconds_total"),
      IsEmpty());
  EXPECT_THAT(Samples(AgentFamilies(view, std::nullopt)),
              Contains("reclaim_agent_read_errors{file=/proc/pressure/memory} 1"));
}

TEST(HostFamiliesTest, EffectiveWorkersAreThoseOfEachNumaNodeElseOfTheMachine) {
  FakeHost host;
  host.PutCaptured("linux-7.3.4");
  host.Put("proc/sys/vm/kswapd_threads", "3\n");
  EXPECT_THAT(SamplesOf(Samples(HostFamilies(ReadHost(host))), "reclaim_kswapd_workers_effective"),
              ElementsAre("{numa_node=0} 3", "{numa_node=1} 3"));
  host.Put("sys/devices/system/node/node1/kswapd_threads", "2\n");
  EXPECT_THAT(SamplesOf(Samples(HostFamilies(ReadHost(host))), "reclaim_kswapd_workers_effective"),
              ElementsAre("{numa_node=0} 3", "{numa_node=1} 2"));
}

AgentView FullView() {
  FakeHost host;
  host.PutCaptured("linux-7.3.4");
  AgentView view;
  view.snapshot = ReadHost(host);
  view.snapshot.read_errors["/proc/x"] = "no";
  for (NumaNodeSnapshot& node : view.snapshot.numa_nodes) node.kswapd_workers = 4;
  view.settings = {{{"kswapd.workers", 1}, 4, 2, 1, "Clamped", "", 3, 0},
                   {{"vm.swappiness", std::nullopt}, std::nullopt, 60, 60, "Restored", "", 0, 1}};
  view.targets = {{"cache", "Reclaiming", "", 100, 50, 2, 1}};
  view.policy = "p";
  view.revision = "r";
  view.ticks_total = 9;
  view.checkpoint_time = absl::FromUnixSeconds(1'790'000'000);
  return view;
}

LinkStats FullStats() {
  LinkStats stats;
  stats.connected = true;
  stats.connects_total = 2;
  stats.ends_total["UNAVAILABLE"] = 5;
  return stats;
}

TEST(AgentFamiliesTest, ShowWhatTheAgentDoes) {
  const std::vector<std::string> samples = Samples(AgentFamilies(FullView(), FullStats()));
  for (const char* sample : {
           "reclaim_kswapd_workers_desired{numa_node=1} 4",
           "reclaim_setting_effective{setting=kswapd.workers,numa_node=1} 2",
           "reclaim_setting_overridden_total{setting=kswapd.workers,numa_node=1} 3",
           "reclaim_target_reclaimed_bytes_total{target=cache} 50",
           "reclaim_target_eagain_total{target=cache} 2",
           "reclaim_agent_policy_info{policy=p,revision=r} 1",
           "reclaim_agent_stream_connected{} 1",
           "reclaim_agent_stream_ends_total{code=UNAVAILABLE} 5",
           "reclaim_agent_checkpoint_timestamp_seconds{} 1.79e+09",
       }) {
    EXPECT_THAT(samples, Contains(sample));
  }
  // It has left the spec: no desired value, not a desired value of 0.
  EXPECT_THAT(SamplesOf(samples, "reclaim_setting_desired"), testing::SizeIs(1));
}

TEST(AgentFamiliesTest, AloneThereIsNoStream) {
  const std::vector<std::string> samples = Samples(AgentFamilies(FullView(), std::nullopt));
  EXPECT_THAT(SamplesOf(samples, "reclaim_agent_stream_connected"), IsEmpty());
  EXPECT_THAT(SamplesOf(samples, "reclaim_agent_checkpoint_errors_total"), IsEmpty());
}

TEST(AgentMetricsTest, NothingBeforeTheFirstRound) {
  const AgentMetrics metrics([] { return nullptr; }, [] { return std::nullopt; });
  EXPECT_THAT(metrics.Collect(), IsEmpty());
}

TEST(AgentMetricTableTest, IsWellFormed) {
  EXPECT_TRUE(CheckMetricTable(AgentMetricTable()).ok()) << CheckMetricTable(AgentMetricTable());
}

TEST(AgentMetricTableTest, HasEveryRowShownOnceAllAreOnAndNoOther) {
  std::vector<prometheus::MetricFamily> families = HostFamilies(FullView().snapshot);
  for (const auto& link : {std::optional(FullStats()), std::optional<LinkStats>()}) {
    for (auto& family : AgentFamilies(FullView(), link)) families.push_back(family);
  }
  EXPECT_TRUE(CheckFamilies(families, AgentMetricTable()).ok())
      << CheckFamilies(families, AgentMetricTable());
  for (int i = 0; i < static_cast<int>(AgentMetric::kCount); ++i) {
    const std::string& name = RowOf(static_cast<AgentMetric>(i)).name;
    EXPECT_TRUE(std::any_of(families.begin(), families.end(),
                            [&](const auto& family) { return family.name == name; }))
        << name << " stands in the table and no code gives it";
  }
}

TEST(AgentMetricTableTest, IsTheReferencePage) {
  std::ostringstream page;
  page << std::ifstream(RECLAIM_SOURCE_DIR "/docs/metrics-node-agent.md").rdbuf();
  EXPECT_EQ(page.str(), AgentMetricReference())
      << "docs/metrics-node-agent.md is what `reclaim-node-agent --metrics-reference` prints";
}

}  // namespace
}  // namespace reclaim::agent
