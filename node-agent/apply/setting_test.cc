// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/setting.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace reclaim::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HostFeatures Features(bool per_numa_node, bool global, std::vector<int> memory_nodes = {0, 1}) {
  HostFeatures features;
  features.memory_nodes = std::move(memory_nodes);
  features.features = {{kKswapdThreadsPerNumaNode, per_numa_node, ""},
                       {kKswapdThreads, global, ""}};
  return features;
}

// "NAME=VALUE", and "!" for what the kernel cannot do.
std::vector<std::string> Resolve(const char* spec_text, const HostFeatures& features) {
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(spec_text, &spec)) << spec_text;
  std::vector<std::string> texts;
  for (const DesiredSetting& d : ResolveSettings(spec, features, HostFiles(HostPaths()))) {
    texts.push_back(
        absl::StrCat(DescribeKey(d.setting.key), "=", d.value, d.unsupported.empty() ? "" : "!"));
  }
  return texts;
}

constexpr bool kYes = true;
constexpr bool kNo = false;

TEST(ResolveSettingsTest, WorkersGoToEachNumaNodeWithMemory) {
  EXPECT_THAT(Resolve("kswapd { workers: 4 }", Features(kYes, kYes)),
              ElementsAre("kswapd.workers of NUMA node 0=4", "kswapd.workers of NUMA node 1=4"));
  EXPECT_THAT(Resolve("kswapd { workers: 4 }", Features(kYes, kYes, {2})),
              ElementsAre("kswapd.workers of NUMA node 2=4"));
}

TEST(ResolveSettingsTest, ExceptionsWinOnTheirNumaNode) {
  EXPECT_THAT(
      Resolve("kswapd { workers: 4 numa_nodes { node: 1 workers: 2 } }", Features(kYes, kYes)),
      ElementsAre("kswapd.workers of NUMA node 0=4", "kswapd.workers of NUMA node 1=2"));
  EXPECT_THAT(Resolve("kswapd { numa_nodes { node: 1 workers: 2 } }", Features(kYes, kYes)),
              ElementsAre("kswapd.workers of NUMA node 1=2"));
}

TEST(ResolveSettingsTest, MinFreeIsAtMostAQuarterOfTheMemory) {
  HostFeatures features = Features(kYes, kYes);
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  const auto harm = [&](int32_t kbytes) {
    spec.mutable_watermarks()->set_min_free_kbytes(kbytes);
    return ResolveSettings(spec, features, HostFiles(HostPaths())).at(0).harmful;
  };
  EXPECT_THAT(harm(9), testing::HasSubstr("/proc/meminfo does not tell"));
  features.memory_kbytes = 1531000;
  EXPECT_EQ(harm(382750), "");
  EXPECT_THAT(harm(382751), testing::HasSubstr("at most 382750"));
}

TEST(ResolveSettingsTest, SaysWhenTheNumaNodeIsNotThere) {
  EXPECT_THAT(Resolve("kswapd { numa_nodes { node: 7 workers: 2 } }", Features(kYes, kYes)),
              ElementsAre("kswapd.workers of NUMA node 7=2!"));
}

TEST(ResolveSettingsTest, OneValueForAllOnA2018Kernel) {
  EXPECT_THAT(
      Resolve("kswapd { workers: 4 numa_nodes { node: 1 workers: 2 } }", Features(kNo, kYes)),
      ElementsAre("kswapd.workers=4", "kswapd.workers of NUMA node 1=2!"));
}

TEST(ResolveSettingsTest, NamesBothMissingFilesOnAStockKernel) {
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  spec.mutable_kswapd()->set_workers(4);
  const auto desired = ResolveSettings(spec, Features(kNo, kNo), HostFiles(HostPaths()));
  ASSERT_EQ(desired.size(), 1u);
  EXPECT_THAT(desired[0].unsupported,
              testing::AllOf(testing::HasSubstr("/sys/devices/system/node/node0/kswapd_threads"),
                             testing::HasSubstr("/proc/sys/vm/kswapd_threads")));
}

TEST(ResolveSettingsTest, TakesOnlyWhatIsSetAlsoWhenItIsZero) {
  EXPECT_THAT(Resolve("", Features(kYes, kYes)), IsEmpty());
  EXPECT_THAT(Resolve("kswapd { auto { min: 1 max: 2 } }", Features(kYes, kYes)), IsEmpty());
  EXPECT_THAT(Resolve("watermarks { min_free_kbytes: 9 scale_factor: 8 boost_factor: 0 }"
                      "vm { swappiness: 0 vfs_cache_pressure: 50 }",
                      Features(kYes, kYes)),
              ElementsAre("watermarks.minFreeKbytes=9", "watermarks.scaleFactor=8",
                          "watermarks.boostFactor=0", "vm.swappiness=0", "vm.vfsCachePressure=50"));
}

TEST(FindSettingTest, KnowsEverySettingThatResolveGives) {
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "kswapd { workers: 4 } watermarks { min_free_kbytes: 9 scale_factor: 8 boost_factor: 0 }"
      "vm { swappiness: 0 vfs_cache_pressure: 50 }",
      &spec));
  const HostFiles files{HostPaths()};
  for (const auto& features : {Features(kYes, kYes), Features(kNo, kYes)}) {
    for (const DesiredSetting& desired : ResolveSettings(spec, features, files)) {
      const std::optional<Setting> found = FindSetting(desired.setting.key, files);
      ASSERT_TRUE(found.has_value()) << desired.setting.key.name;
      EXPECT_EQ(found->file.path, desired.setting.file.path);
    }
  }
  EXPECT_FALSE(FindSetting({"vm.laptopMode", std::nullopt}, files).has_value());
  EXPECT_FALSE(FindSetting({"vm.swappiness", 1}, files).has_value());
}

}  // namespace
}  // namespace reclaim::agent
