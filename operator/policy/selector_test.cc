// SPDX-License-Identifier: Apache-2.0
#include "operator/policy/selector.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

namespace reclaim::op {
namespace {

using Labels = absl::flat_hash_map<std::string, std::string>;

struct Case {
  const char* name;
  const char* selector;  // JSON, as in the API
  Labels labels;
  bool matches;
};

TEST(Selector, FollowsKubernetes) {
  const Case cases[] = {
      {"empty selects a node without labels", "{}", {}, true},
      {"empty selects every node", "{}", {{"a", "1"}}, true},
      {"label equal", R"({"matchLabels":{"a":"1"}})", {{"a", "1"}, {"b", "2"}}, true},
      {"label other value", R"({"matchLabels":{"a":"1"}})", {{"a", "2"}}, false},
      {"label missing", R"({"matchLabels":{"a":"1"}})", {}, false},
      {"empty value is a value", R"({"matchLabels":{"a":""}})", {{"a", ""}}, true},
      {"empty value is not a missing key", R"({"matchLabels":{"a":""}})", {}, false},
      {"two labels, one wrong", R"({"matchLabels":{"a":"1","b":"2"}})", {{"a", "1"}}, false},
      {"In, listed",
       R"({"matchExpressions":[{"key":"a","operator":"In","values":["1","2"]}]})",
       {{"a", "2"}},
       true},
      {"In, not listed",
       R"({"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]})",
       {{"a", "3"}},
       false},
      {"In, key missing",
       R"({"matchExpressions":[{"key":"a","operator":"In","values":[""]}]})",
       {},
       false},
      {"NotIn, listed",
       R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["1"]}]})",
       {{"a", "1"}},
       false},
      {"NotIn, other",
       R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["1"]}]})",
       {{"a", "2"}},
       true},
      {"NotIn, key missing",
       R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["1"]}]})",
       {},
       true},
      {"Exists", R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})", {{"a", ""}}, true},
      {"Exists, missing", R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})", {}, false},
      {"DoesNotExist", R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})", {}, true},
      {"DoesNotExist, present",
       R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})",
       {{"a", "1"}},
       false},
      {"labels and expressions both count",
       R"({"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"Exists"}]})",
       {{"a", "1"}},
       false},
      {"unknown operator matches nothing",
       R"({"matchExpressions":[{"key":"a","operator":"Like","values":["1"]}]})",
       {{"a", "1"}},
       false},
      {"NotIn without values matches nothing",
       R"({"matchExpressions":[{"key":"a","operator":"NotIn"}]})",
       {},
       false},
      {"Exists with values matches nothing",
       R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["1"]}]})",
       {{"a", "1"}},
       false},
  };
  for (const Case& c : cases) {
    kswapd::v1alpha1::LabelSelector selector;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(c.selector, &selector).ok()) << c.name;
    EXPECT_EQ(Matches(selector, c.labels), c.matches) << c.name;
  }
}

}  // namespace
}  // namespace reclaim::op
