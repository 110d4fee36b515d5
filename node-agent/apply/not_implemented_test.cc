// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/not_implemented.h"

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "kswapd/v1alpha1/policy.pb.h"

namespace reclaim::agent {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using testing::ElementsAre;

// The field that `path` names, nullptr when there is none.
const FieldDescriptor* Find(const Descriptor& root, absl::string_view path) {
  const Descriptor* descriptor = &root;
  const FieldDescriptor* field = nullptr;
  for (absl::string_view name : absl::StrSplit(path, '.')) {
    field = nullptr;
    for (int i = 0; descriptor != nullptr && i < descriptor->field_count(); ++i) {
      if (descriptor->field(i)->json_name() == name) field = descriptor->field(i);
    }
    if (field == nullptr) return nullptr;
    descriptor = field->message_type();
  }
  return field;
}

TEST(FieldTablesTest, NameOnlyFieldsThatExist) {
  for (const FieldEntry& entry : SpecFields()) {
    EXPECT_NE(Find(*kswapd::v1alpha1::ReclaimPolicySpec::descriptor(), entry.path), nullptr)
        << entry.path;
  }
  for (const FieldEntry& entry : TargetFields()) {
    EXPECT_NE(Find(*kswapd::v1alpha1::ProactiveReclaimTarget::descriptor(), entry.path), nullptr)
        << entry.path;
  }
}

template <typename Message>
std::vector<std::string> FindIn(const char* text, absl::Span<const FieldEntry> fields) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return FindUnimplemented(message, fields);
}

TEST(FindUnimplementedTest, SaysWhatThisVersionDoesNotApply) {
  EXPECT_THAT(FindIn<kswapd::v1alpha1::ReclaimPolicySpec>(
                  "kswapd { auto { min: 1 max: 4 } } lru_gen { enabled: false min_ttl: '1s' }"
                  "rollout { steps { soak: '1m' } gates { degraded {} } }",
                  SpecFields()),
              ElementsAre("kswapd.auto", "lruGen.enabled", "lruGen.minTTL", "rollout.gates"));
  EXPECT_THAT(FindIn<kswapd::v1alpha1::ProactiveReclaimTarget>(
                  "name: 'a' scope { node {} } goal { pressure { some_avg: '1%' } }"
                  "limits { floor: '1Gi' } circuit_breaker { failures: 3 }",
                  TargetFields()),
              ElementsAre("scope.node", "goal.pressure", "limits", "circuitBreaker"));
}

TEST(FindUnimplementedTest, FindsNothingInWhatIsApplied) {
  EXPECT_THAT(FindIn<kswapd::v1alpha1::ReclaimPolicySpec>(
                  "priority: 1 mode: Observe paused: true deletion: Keep kswapd { workers: 2 }"
                  "vm { swappiness: 1 } watermarks { boost_factor: 1 } node_selector {}",
                  SpecFields()),
              testing::IsEmpty());
}

TEST(FindUnimplementedTest, FindsFieldsOfANewerOperator) {
  kswapd::v1alpha1::ReclaimPolicySpec spec;
  spec.mutable_kswapd()->set_workers(2);
  kswapd::v1alpha1::Kswapd& kswapd = *spec.mutable_kswapd();
  kswapd.GetReflection()->MutableUnknownFields(&kswapd)->AddVarint(17, 1);
  EXPECT_THAT(FindUnimplemented(spec, SpecFields()), ElementsAre("kswapd.#17"));
}

}  // namespace
}  // namespace reclaim::agent
