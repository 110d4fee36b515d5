// SPDX-License-Identifier: Apache-2.0
// Every fuzzed parser on a few thousand inputs made from a good one, the same in every run: what CI
// does of fuzzing. The open-ended search is libFuzzer's (`./dev bench fuzz`).
#include "node-agent/fuzz/parsers.h"

#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace reclaim::agent {
namespace {

constexpr int kInputs = 2000;

// The good input that the parser's fuzzer begins with too.
std::string SeedOf(const FuzzedParser& parser) {
  std::ostringstream text;
  text << std::ifstream(absl::StrCat(RECLAIM_SOURCE_DIR, "/node-agent/testdata/fuzz/", parser.name))
              .rdbuf();
  return text.str();
}

std::string Mutate(std::string text, std::mt19937& random) {
  const auto below = [&random](size_t n) { return n == 0 ? 0 : random() % n; };
  const char interesting[] = {'\0', '\n', ' ', '-', ':', '*', '{', '"', '9', '\xff'};
  for (size_t i = 0; i <= below(8); ++i) {
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 2:
        text.insert(at, 1, interesting[below(sizeof(interesting))]);
        break;
      case 3:
        text.erase(at, below(20));
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
    }
  }
  return text;
}

class FuzzedParserTest : public testing::TestWithParam<FuzzedParser> {};

TEST_P(FuzzedParserTest, TakesAnyBytes) {
  const std::string seed = SeedOf(GetParam());
  ASSERT_FALSE(seed.empty());
  std::mt19937 random(20261130);
  GetParam().parse("");
  GetParam().parse(seed);
  std::string text = seed;
  for (int i = 0; i < kInputs; ++i) {
    // Mostly near the good input, sometimes far from it.
    text = Mutate(i % 8 == 0 ? seed : text, random);
    GetParam().parse(text);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzedParserTest, testing::ValuesIn(FuzzedParsers()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace reclaim::agent
