// SPDX-License-Identifier: Apache-2.0
#include "common/policy_validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "google/protobuf/util/json_util.h"

namespace reclaim {
namespace {

using ::kswapd::v1alpha1::ReclaimPolicySpec;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

nlohmann::json ToJson(const YAML::Node& node) {
  if (node.IsMap()) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& pair : node) object[pair.first.Scalar()] = ToJson(pair.second);
    return object;
  }
  if (node.IsSequence()) {
    nlohmann::json array = nlohmann::json::array();
    for (const YAML::Node& item : node) array.push_back(ToJson(item));
    return array;
  }
  if (node.Tag() == "!") return node.Scalar();  // quoted
  // A plain scalar is what JSON would make of it, and else a string.
  nlohmann::json plain = nlohmann::json::parse(node.Scalar(), nullptr, /*allow_exceptions=*/false);
  return plain.is_discarded() ? nlohmann::json(node.Scalar()) : plain;
}

google::protobuf::util::Status ParseSpec(const nlohmann::json& json, ReclaimPolicySpec& spec) {
  return google::protobuf::util::JsonStringToMessage(json.dump(), &spec);
}

ReclaimPolicySpec Spec(const std::string& yaml) {
  ReclaimPolicySpec spec;
  const auto status = ParseSpec(ToJson(YAML::Load(yaml)), spec);
  EXPECT_TRUE(status.ok()) << yaml << ": " << status.ToString();
  return spec;
}

std::vector<std::filesystem::path> Manifests(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(RECLAIM_SOURCE_DIR "/crds/testdata/" + folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string WantedField(const std::filesystem::path& manifest) {
  std::ifstream file(manifest);
  std::string line;
  while (std::getline(file, line)) {
    if (absl::StartsWith(line, "# field: ")) return line.substr(9);
  }
  ADD_FAILURE() << manifest << " has no line '# field: PATH'";
  return "";
}

// The same manifests that e2e/tests/test_bad_manifests.py gives to an API server. A value of
// another type, an unknown field or an unknown enum value does not even become a message.
TEST(PolicyValidateTest, RefusesWhatTheApiServerRefuses) {
  int refused_by_type = 0;
  const auto manifests = Manifests("bad");
  ASSERT_GE(manifests.size(), 20u);
  for (const std::filesystem::path& manifest : manifests) {
    ReclaimPolicySpec spec;
    if (!ParseSpec(ToJson(YAML::LoadFile(manifest)["spec"]), spec).ok()) {
      ++refused_by_type;
      continue;
    }
    const std::string field = WantedField(manifest);
    EXPECT_THAT(ValidatePolicySpec(spec), Contains(Field(&FieldError::path, field)))
        << manifest << "; errors: " << FormatFieldErrors(ValidatePolicySpec(spec));
  }
  EXPECT_EQ(refused_by_type, 6) << "workers-word, workers-fraction, unknown-field and three enums";
}

TEST(PolicyValidateTest, TakesWhatTheApiServerTakes) {
  const auto manifests = Manifests("good");
  ASSERT_GE(manifests.size(), 5u);
  for (const std::filesystem::path& manifest : manifests) {
    ReclaimPolicySpec spec;
    const auto status = ParseSpec(ToJson(YAML::LoadFile(manifest)["spec"]), spec);
    ASSERT_TRUE(status.ok()) << manifest << ": " << status.ToString();
    EXPECT_EQ(FormatFieldErrors(ValidatePolicySpec(spec)), "") << manifest;
  }
}

TEST(PolicyValidateTest, ReportsEveryMistakeInTheOrderOfTheFields) {
  const auto errors = ValidatePolicySpec(Spec(R"(
    rollout: {steps: [{nodes: 0, soak: soon}]}
    kswapd: {workers: 99, auto: {min: 4, max: 2}}
    vm: {swappiness: -1}
  )"));
  std::vector<std::string> paths;
  paths.reserve(errors.size());
  for (const FieldError& error : errors) paths.push_back(error.path);
  EXPECT_THAT(paths,
              ::testing::ElementsAre("spec.kswapd.workers", "spec.kswapd.auto.min",
                                     "spec.kswapd.auto", "spec.vm.swappiness",
                                     "spec.rollout.steps[0].nodes", "spec.rollout.steps[0].soak"));
}

TEST(PolicyValidateTest, SaysWhatIsWantedAndWhatCame) {
  const auto errors = ValidatePolicySpec(Spec("{kswapd: {workers: 17}, lruGen: {minTTL: soon}}"));
  EXPECT_EQ(FormatFieldErrors(errors),
            "spec.kswapd.workers must be a whole number from 1 to 16; got 17; "
            "spec.lruGen.minTTL must be a duration from 0s to 1h, such as 1s; got \"soon\"");
}

TEST(PolicyValidateTest, DrawsTheLineAtTheBounds) {
  struct Case {
    const char* yaml;
    const char* bad_path;  // empty: good
  };
  constexpr Case kCases[] = {
      {"lruGen: {minTTL: 1h}", ""},
      {"lruGen: {minTTL: 60m0.001s}", "spec.lruGen.minTTL"},
      {"lruGen: {minTTL: '0'}", "spec.lruGen.minTTL"},
      {"lruGen: {minTTL: 1.5h1us}", "spec.lruGen.minTTL"},
      {"rollout: {steps: [{nodes: 1000000}]}", ""},
      {"rollout: {steps: [{nodes: 1000001}]}", "spec.rollout.steps[0].nodes"},
      {"rollout: {steps: [{nodes: 1.5}]}", "spec.rollout.steps[0].nodes"},
      {"rollout: {steps: [{nodes: 0.001%}]}", ""},
      {"rollout: {steps: [{nodes: 0%}]}", "spec.rollout.steps[0].nodes"},
      {"rollout: {steps: [{nodes: 07%}]}", "spec.rollout.steps[0].nodes"},
      {"rollout: {gates: {degraded: {maxNodes: 0%}}}", ""},
      {"rollout: {gates: {degraded: {}}}", "spec.rollout.gates.degraded.maxNodes"},
      {"rollout: {gates: {refaults: {}}}", "spec.rollout.gates.refaults.maxIncrease"},
      {"rollout: {gates: {refaults: {maxIncrease: 1000.1%}}}",
       "spec.rollout.gates.refaults.maxIncrease"},
      {"nodeSelector: {matchExpressions: [{key: '', operator: Exists}]}",
       "spec.nodeSelector.matchExpressions[0].key"},
      {"nodeSelector: {matchExpressions: [{key: a, operator: In, values: [b, b]}]}",
       "spec.nodeSelector.matchExpressions[0].values[1]"},
  };
  for (const Case& c : kCases) {
    const auto errors = ValidatePolicySpec(Spec(c.yaml));
    if (*c.bad_path == '\0') {
      EXPECT_THAT(errors, IsEmpty()) << c.yaml << ": " << FormatFieldErrors(errors);
    } else {
      EXPECT_THAT(errors, Contains(Field(&FieldError::path, c.bad_path))) << c.yaml;
    }
  }
}

TEST(PolicyValidateTest, BoundsEachList) {
  ReclaimPolicySpec spec;
  for (int i = 0; i < 17; ++i) spec.add_proactive_reclaim();
  for (int i = 0; i < 65; ++i) spec.mutable_kswapd()->add_numa_nodes()->set_node(i);
  const auto errors = ValidatePolicySpec(spec);
  EXPECT_THAT(errors, Contains(Field(&FieldError::path, "spec.proactiveReclaim")));
  EXPECT_THAT(errors, Contains(Field(&FieldError::message, HasSubstr("at most 64 entries"))));
}

}  // namespace
}  // namespace reclaim
