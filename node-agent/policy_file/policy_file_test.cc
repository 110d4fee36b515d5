// SPDX-License-Identifier: Apache-2.0
#include "node-agent/policy_file/policy_file.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using kswapd::v1alpha1::ReclaimPolicySpec;

std::string Manifest(const std::string& spec) {
  return absl::StrCat(
      "apiVersion: kswapd.dev/v1alpha1\n"
      "kind: ReclaimPolicy\n"
      "metadata:\n"
      "  name: p\n"
      "spec:\n",
      spec);
}

TEST(ParsePolicyTest, ReadsEveryKindOfField) {
  const SpecUpdate update = ParsePolicy(Manifest("  nodeSelector:\n"
                                                 "    matchLabels: {pool: batch}\n"
                                                 "  mode: Observe\n"
                                                 "  paused: true\n"
                                                 "  deletion: Keep\n"
                                                 "  kswapd:\n"
                                                 "    workers: 4\n"
                                                 "    numaNodes:\n"
                                                 "    - {node: 1, workers: 2}\n"
                                                 "  lruGen: {minTTL: 1s}\n"
                                                 "  proactiveReclaim:\n"
                                                 "  - name: a\n"
                                                 "    scope: {numaNodes: [0, 1]}\n"
                                                 "    goal: {rate: 64Mi/m}\n"
                                                 "    swappiness: max\n"
                                                 "  - name: b\n"
                                                 "    scope: {cgroups: [\"/x/*\"]}\n"
                                                 "    goal: {rate: 1Mi/s}\n"
                                                 "    swappiness: 10\n"),
                                        "p.yaml")
                                .value();
  const ReclaimPolicySpec& spec = update.spec.spec();
  EXPECT_EQ(update.spec.policy().name(), "p");
  EXPECT_EQ(spec.node_selector().match_labels().at("pool"), "batch");
  EXPECT_EQ(spec.mode(), ReclaimPolicySpec::Observe);
  EXPECT_EQ(spec.deletion(), ReclaimPolicySpec::Keep);
  EXPECT_TRUE(spec.paused());
  EXPECT_EQ(spec.kswapd().workers(), 4);
  EXPECT_EQ(spec.kswapd().numa_nodes(0).workers(), 2);
  EXPECT_EQ(spec.lru_gen().min_ttl(), "1s");
  EXPECT_EQ(spec.proactive_reclaim(0).scope().numa_nodes(1), 1);
  EXPECT_EQ(spec.proactive_reclaim(0).swappiness().string_value(), "max");
  EXPECT_EQ(spec.proactive_reclaim(1).swappiness().number_value(), 10);
}

struct BadCase {
  const char* name;
  const char* spec;
  const char* error;  // what the sentence must begin with
};

class BadPolicyTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadPolicyTest, IsRefusedWithFileLineAndField) {
  const absl::Status status = ParsePolicy(Manifest(GetParam().spec), "p.yaml").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith(GetParam().error));
  EXPECT_THAT(std::string(status.message()), testing::Not(testing::HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadPolicyTest,
    testing::Values(
        BadCase{"UnknownField", "  vm: {}\n  kswapd:\n    worker: 4\n",
                "p.yaml:8: spec.kswapd.worker: unknown field"},
        BadCase{"ProtoName", "  node_selector: {}\n",
                "p.yaml:6: spec.node_selector: unknown field"},
        BadCase{"ManyWorkers", "  kswapd:\n    workers: many\n",
                "p.yaml:7: spec.kswapd.workers: must be a whole number; got \"many\""},
        BadCase{"QuotedNumber", "  kswapd: {workers: \"4\"}\n",
                "p.yaml:6: spec.kswapd.workers: must be a whole number; got \"4\""},
        BadCase{"Fraction", "  vm: {swappiness: 1.5}\n", "p.yaml:6: spec.vm.swappiness: must be"},
        BadCase{"TooLargeANumber", "  vm: {swappiness: 99999999999}\n",
                "p.yaml:6: spec.vm.swappiness: must be a whole number"},
        BadCase{"NotABool", "  paused: \"yes\"\n", "p.yaml:6: spec.paused: must be true or false"},
        BadCase{"UnknownMode", "  mode: Force\n",
                "p.yaml:6: spec.mode: must be one of Enforce, Observe; got \"Force\""},
        BadCase{"UnspecifiedMode", "  mode: MODE_UNSPECIFIED\n",
                "p.yaml:6: spec.mode: must be one"},
        BadCase{"ListForMapping", "  kswapd: [4]\n", "p.yaml:6: spec.kswapd: must be a mapping"},
        BadCase{"MappingForList", "  proactiveReclaim: {name: a}\n",
                "p.yaml:6: spec.proactiveReclaim: must be a list"},
        BadCase{"NumberForString", "  nodeSelector: {matchLabels: {a: 1}}\n",
                "p.yaml:6: spec.nodeSelector.matchLabels[\"a\"]: must be a string"},
        BadCase{"TwiceTheSame", "  vm: {swappiness: 1, swappiness: 2}\n",
                "p.yaml:6: spec.vm.swappiness: comes twice"},
        BadCase{"InAList", "  proactiveReclaim:\n  - name: a\n    scope: {numaNodes: [0, x]}\n",
                "p.yaml:8: spec.proactiveReclaim[0].scope.numaNodes[1]: must be a whole number"},
        // Beyond the types: what common/policy_validate knows.
        BadCase{"WorkersOutOfRange", "  vm: {swappiness: 1}\n  kswapd:\n    workers: 17\n",
                "p.yaml:8: spec.kswapd.workers"},
        BadCase{"BadRate",
                "  proactiveReclaim:\n  - name: a\n    scope: {numaNodes: [0]}\n"
                "    goal:\n      rate: fast\n",
                "p.yaml:10: spec.proactiveReclaim[0].goal.rate"},
        BadCase{"TwoScopes",
                "  proactiveReclaim:\n  - name: a\n"
                "    scope: {numaNodes: [0], cgroups: [\"/x\"]}\n    goal: {rate: 1Mi/s}\n",
                "p.yaml:8: spec.proactiveReclaim[0].scope"}),
    [](const auto& info) { return info.param.name; });

TEST(ParsePolicyTest, RefusesWhatIsNoReclaimPolicy) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "p.yaml:1: must hold one ReclaimPolicy; it has no document"},
      {"a: 1\n---\nb: 2\n", "p.yaml:1: must hold one ReclaimPolicy; it has more than one document"},
      // yaml-cpp takes this for documents without end.
      {",i$", "p.yaml:1: must hold one ReclaimPolicy; it has more than one document"},
      {"just words", "p.yaml:1: the document must be a ReclaimPolicy manifest"},
      {"a: [1\n", "p.yaml:2: not YAML"},
      {"apiVersion: v1\nkind: Pod\n", "p.yaml:1: apiVersion: must be kswapd.dev/v1alpha1"},
      {"apiVersion: kswapd.dev/v1alpha1\nkind: Pod\n", "p.yaml:2: kind: must be ReclaimPolicy"},
      {"apiVersion: kswapd.dev/v1alpha1\nkind: ReclaimPolicy\nspec: {}\n",
       "p.yaml:1: metadata.name: missing"},
      {"apiVersion: kswapd.dev/v1alpha1\nkind: ReclaimPolicy\nmetadata: {name: p}\nspecs: {}\n",
       "p.yaml:4: specs: unknown field"},
      {"apiVersion: kswapd.dev/v1alpha1\nkind: ReclaimPolicy\nmetadata: {name: p}\n",
       "p.yaml:1: spec: missing"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_THAT(std::string(ParsePolicy(text, "p.yaml").status().message()),
                testing::StartsWith(error))
        << text;
  }
}

TEST(ParsePolicyTest, EqualContentHasEqualVersion) {
  const auto version = [](const char* spec) {
    return ParsePolicy(Manifest(spec), "p.yaml")->version;
  };
  EXPECT_EQ(version("  vm: {swappiness: 1}\n"), version("  vm:\n    swappiness: 1 # the same\n"));
  EXPECT_NE(version("  vm: {swappiness: 1}\n"), version("  vm: {swappiness: 2}\n"));
}

TEST(PolicyFileTest, IsReadAgainOnlyWhenItChanged) {
  FakeHost host;
  host.Put("p.yaml", Manifest("  vm: {swappiness: 1}\n"));
  PolicyFile file(host.root() + "/p.yaml");
  EXPECT_EQ(file.Poll().value()->spec.spec().vm().swappiness(), 1);
  EXPECT_FALSE(file.Poll().has_value());
  host.Put("p.yaml", Manifest("  vm: {swappiness: 20}\n"));
  EXPECT_EQ(file.Poll().value()->spec.spec().vm().swappiness(), 20);
}

TEST(PolicyFileTest, AFifoIsNotWaitedFor) {
  FakeHost host;
  const std::string path = host.root() + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(PolicyFile(path).Poll()->status().message(), path + ": is not a regular file");
}

TEST(PolicyFileTest, AMissingFileIsAnErrorOnce) {
  FakeHost host;
  host.Put("p.yaml", Manifest("  vm: {swappiness: 1}\n"));
  PolicyFile file(host.root() + "/p.yaml");
  EXPECT_TRUE(file.Poll()->ok());
  host.Remove("p.yaml");
  EXPECT_TRUE(absl::IsNotFound(file.Poll()->status()));
  EXPECT_FALSE(file.Poll().has_value());
}

}  // namespace
}  // namespace reclaim::agent
