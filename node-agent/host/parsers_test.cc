// SPDX-License-Identifier: Apache-2.0
// The parsers against files captured from real kernels, and against what a kernel would never
// print.
#include <errno.h>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/host/counters.h"
#include "node-agent/host/id_list.h"
#include "node-agent/host/kswapd_worker.h"
#include "node-agent/host/meminfo.h"
#include "node-agent/host/pressure.h"
#include "node-agent/host/zoneinfo.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CapturedTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { host_.PutCaptured(GetParam()); }
  FakeHost host_;
  HostFiles files_{host_.Paths()};
};

TEST_P(CapturedTest, EveryFileIsUnderstood) {
  EXPECT_TRUE(ReadCounters(files_.Vmstat()).value().has_value());
  EXPECT_TRUE(ReadCounters(files_.NumaNodeVmstat(0)).value().has_value());
  EXPECT_TRUE(ReadPressure(files_.MemoryPressure()).value().has_value());
  EXPECT_TRUE(ReadIdList(files_.OnlineNumaNodes()).value().has_value());
  const std::vector<Zone> zones = ReadZoneinfo(files_.Zoneinfo()).value().value();
  ASSERT_FALSE(zones.empty());
  for (const Zone& zone : zones) {
    EXPECT_TRUE(zone.free_pages.has_value()) << zone.name;
    EXPECT_LE(zone.min_pages.value(), zone.low_pages.value()) << zone.name;
    EXPECT_LE(zone.low_pages.value(), zone.high_pages.value()) << zone.name;
    EXPECT_LT(zone.high_pages.value(), zone.managed_pages.value()) << zone.name;
    EXPECT_TRUE(zone.boost_pages.has_value()) << zone.name;
    EXPECT_EQ(zone.node_unreclaimable, false) << zone.name;
  }
}

std::string KernelName(const testing::TestParamInfo<const char*>& info) {
  return absl::StrReplaceAll(info.param, {{"linux-", "v"}, {".", "_"}, {"-", "_"}});
}
INSTANTIATE_TEST_SUITE_P(Kernels, CapturedTest,
                         testing::Values("linux-7.3.4", "linux-7.3.4-reclaim", "linux-6.18"),
                         KernelName);

TEST(ZoneinfoTest, TakesTheZonesAmountsAndNotThePageSets) {
  FakeHost host;
  host.PutCaptured("linux-7.3.4");
  const std::vector<Zone> zones = ReadZoneinfo(HostFiles(host.Paths()).Zoneinfo()).value().value();
  // The empty zones (Normal, Movable and Device of these small NUMA nodes) are left out.
  ASSERT_EQ(zones.size(), 3u);
  EXPECT_EQ(zones[0].name, "DMA");
  EXPECT_EQ(zones[1].name, "DMA32");
  EXPECT_EQ(zones[2].numa_node, 1);
  // "high" comes again, with a colon, for each CPU: 284 is the zone's.
  EXPECT_EQ(zones[0].high_pages, 284u);
  EXPECT_EQ(zones[1].free_pages, 107301u);
  EXPECT_EQ(zones[2].managed_pages, 128622u);
}

TEST(ZoneinfoTest, RefusesWhatIsNotZoneinfo) {
  EXPECT_FALSE(ParseZoneinfo("hello\n").ok());
  EXPECT_FALSE(ParseZoneinfo("Node x, zone DMA\n").ok());
  EXPECT_FALSE(ParseZoneinfo("Node 0, zone\n").ok());
  EXPECT_FALSE(ParseZoneinfo("Node 0, zone DMA\n  pages free many\n").ok());
  EXPECT_THAT(ParseZoneinfo("").value(), IsEmpty());
}

TEST(CountersTest, PerNumaNodeCountersCameWithLinux7) {
  FakeHost stock, older;
  stock.PutCaptured("linux-7.3.4");
  older.PutCaptured("linux-6.18");
  const HostFiles files(stock.Paths()), older_files(older.Paths());
  EXPECT_EQ(ReadCounters(files.NumaNodeVmstat(1))->value().Find("pgscan_kswapd"), 0u);
  EXPECT_EQ(ReadCounters(older_files.NumaNodeVmstat(0))->value().Find("pgscan_kswapd"),
            std::nullopt);
  EXPECT_TRUE(ReadCounters(older_files.Vmstat())->value().Find("pgscan_kswapd").has_value());
}

TEST(CountersTest, Table) {
  EXPECT_EQ(ParseCounters("a 1\nb 2\n")->Find("b"), 2u);
  EXPECT_EQ(ParseCounters("a 18446744073709551615")->Find("a"), UINT64_MAX);
  EXPECT_EQ(ParseCounters("a -3")->Find("a"), 0u);
  EXPECT_EQ(ParseCounters("")->Find("a"), std::nullopt);
  for (const char* bad : {"a", "a b", "a 1 2", " 1", "a 1\na 2", "a 18446744073709551616"}) {
    EXPECT_FALSE(ParseCounters(bad).ok()) << bad;
  }
}

TEST(MeminfoTest, Table) {
  EXPECT_EQ(ParseMemTotalKbytes("MemTotal:        1531000 kB\nMemFree: 1 kB\n").value(), 1531000);
  for (const char* bad : {"", "MemFree: 1 kB", "MemTotal: 0 kB", "MemTotal: -1 kB",
                          "MemTotal: x kB", "MemTotal: 5", "MemTotal: 99999999999999999999 kB"}) {
    EXPECT_FALSE(ParseMemTotalKbytes(bad).ok()) << bad;
  }
}

TEST(PressureTest, Table) {
  const Pressure pressure = ParsePressure(
                                "some avg10=0.12 avg60=0.00 avg300=0.00 total=1500000\n"
                                "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
                                .value();
  EXPECT_EQ(pressure.some, absl::Milliseconds(1500));
  EXPECT_EQ(pressure.full, absl::Microseconds(7));
  EXPECT_EQ(ParsePressure("some avg10=0.00 total=1\n")->full, std::nullopt);
  for (const char* bad : {"", "full total=1", "some avg10=0.00", "some total=-1", "some total=x"}) {
    EXPECT_FALSE(ParsePressure(bad).ok()) << bad;
  }
}

TEST(IdListTest, Table) {
  EXPECT_THAT(ParseIdList("0-1\n").value(), ElementsAre(0, 1));
  EXPECT_THAT(ParseIdList("0,2-3,7").value(), ElementsAre(0, 2, 3, 7));
  EXPECT_THAT(ParseIdList("\n").value(), IsEmpty());
  for (const char* bad : {"x", "1-0", "0,0", "-1", "0-", "0-1-2", "0-1024", "0,,1", "2,1"}) {
    EXPECT_FALSE(ParseIdList(bad).ok()) << bad;
  }
}

TEST(KswapdNameTest, Table) {
  EXPECT_EQ(ParseKswapdName("kswapd0")->worker, 0);
  EXPECT_EQ(ParseKswapdName("kswapd12")->numa_node, 12);
  EXPECT_EQ(ParseKswapdName("kswapd1:3")->worker, 3);
  EXPECT_EQ(ParseKswapdName("kswapd1:3")->numa_node, 1);
  for (const char* other : {"kswapd", "kswapd:1", "kswapd0:", "kswapd0:1:2", "kswapdx", "kswapd-1",
                            "kswapd+1", "kcompactd0", "kswapd1024", ""}) {
    EXPECT_FALSE(ParseKswapdName(other).has_value()) << other;
  }
}

TEST(ProcessStatTest, TakesNamesWithSpacesAndParentheses) {
  const ProcessStat stat =
      ParseProcessStat("7 (a) b (c) S 2 0 0 0 -1 2230336 0 0 0 0 5 42 0 0 20 0 1 0 155").value();
  EXPECT_EQ(stat.comm, "a) b (c");
  EXPECT_EQ(stat.flags, 2230336u);
  EXPECT_EQ(stat.stime_ticks, 42u);
  for (const char* bad :
       {"", "7 kswapd0 S", "7 (x) S 2", ")(", "7 (x) S 2 0 0 0 -1 y 0 0 0 0 5 4"}) {
    EXPECT_FALSE(ParseProcessStat(bad).ok()) << bad;
  }
}

TEST(ReadFileTest, TellsMissingFromUnreadable) {
  FakeHost host;
  host.Put("proc/sys/vm/swappiness", "60\n");
  host.Put("proc/vmstat/is_a_directory", "");
  const HostFiles files(host.Paths());
  EXPECT_EQ(ReadInteger(files.Swappiness()).value(), 60);
  EXPECT_EQ(ReadInteger(files.KswapdThreads()).value(), std::nullopt);
  const absl::Status status = ReadFile(files.Vmstat()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("/proc/vmstat"));
}

TEST(ReadFileTest, BoundsWhatItReads) {
  FakeHost host;
  host.Put("proc/vmstat", std::string(kMaxSmallFile + 1, 'x'));
  EXPECT_TRUE(absl::IsOutOfRange(ReadFile(HostFiles(host.Paths()).Vmstat()).status()));
}

TEST(ReadIntegerTest, NamesTheFileThatIsNoNumber) {
  FakeHost host;
  host.Put("proc/sys/vm/swappiness", "sixty\n");
  const absl::Status status = ReadInteger(HostFiles(host.Paths()).Swappiness()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("/proc/sys/vm/swappiness"));
}

TEST(RealKernelWriterTest, ReturnsErrno) {
  FakeHost host;
  RealKernelWriter writer;
  EXPECT_EQ(writer.Write({host.root() + "/no/such", "x"}, "1"), ENOENT);
  EXPECT_EQ(writer.Write({"/dev/full", "x"}, "1"), ENOSPC);
  host.Put("file", "0123456789");
  EXPECT_EQ(writer.Write({host.root() + "/file", "x"}, "42"), 0);
  EXPECT_EQ(host.Get("file"), "42");
}

}  // namespace
}  // namespace reclaim::agent
