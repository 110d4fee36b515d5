// SPDX-License-Identifier: Apache-2.0
#include "kube/line_splitter.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::ElementsAre;

// Feeds `pieces`; the lines so far, and the first error.
struct Fed {
  std::vector<std::string> lines;
  absl::Status status;
};

Fed Feed(LineSplitter& splitter, const std::vector<std::string>& pieces) {
  Fed fed;
  for (const std::string& piece : pieces) {
    fed.status = splitter.Append(piece, [&](absl::string_view line) {
      fed.lines.emplace_back(line);
      return absl::OkStatus();
    });
    if (!fed.status.ok()) break;
  }
  return fed;
}

TEST(LineSplitterTest, JoinsALineCutAtAnyPlace) {
  const std::string text = "{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    LineSplitter splitter(100);
    EXPECT_THAT(Feed(splitter, {text.substr(0, cut), text.substr(cut)}).lines,
                ElementsAre("{\"a\":1}", "{\"b\":2}", "{\"c\":3}"))
        << "cut at " << cut;
    EXPECT_EQ(splitter.pending_bytes(), 0);
  }
}

TEST(LineSplitterTest, KeepsWhatHasNoEndYet) {
  LineSplitter splitter(100);
  EXPECT_THAT(Feed(splitter, {"one\ntw"}).lines, ElementsAre("one"));
  EXPECT_EQ(splitter.pending_bytes(), 2);
  EXPECT_THAT(Feed(splitter, {"o\n"}).lines, ElementsAre("two"));
}

TEST(LineSplitterTest, RefusesAGiantLineBeforeItIsBuffered) {
  LineSplitter exactly(4);
  EXPECT_THAT(Feed(exactly, {"abcd\n"}).lines, ElementsAre("abcd"));
  LineSplitter whole(4);
  EXPECT_TRUE(absl::IsResourceExhausted(Feed(whole, {"abcde\n"}).status));
  LineSplitter dripped(4);
  EXPECT_TRUE(absl::IsResourceExhausted(Feed(dripped, {"ab", "cd", "e"}).status));
  EXPECT_LE(dripped.pending_bytes(), 4);
}

TEST(LineSplitterTest, StopsAtTheFirstErrorOfTheConsumer) {
  LineSplitter splitter(100);
  int calls = 0;
  const absl::Status status = splitter.Append("a\nb\nc\n", [&](absl::string_view) {
    return ++calls == 2 ? absl::AbortedError("enough") : absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_EQ(calls, 2);
}

// Whatever the bytes and the cuts: the lines are those of the whole text, and nothing is lost.
TEST(LineSplitterTest, RandomBytesInRandomPiecesGiveTheSameLines) {
  std::mt19937 random(20261130);  // fixed: a failure can be repeated
  constexpr char kAlphabet[] = {'\n', '\r', '{', '}', '"', 'a', '\0', '\xff'};
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 64, ' ');
    for (char& c : text) c = kAlphabet[random() % std::size(kAlphabet)];
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random() % 7;
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    LineSplitter whole(1000);
    LineSplitter cut(1000);
    const Fed expected = Feed(whole, {text});
    const Fed got = Feed(cut, pieces);
    ASSERT_EQ(got.lines, expected.lines) << "round " << round;
    ASSERT_EQ(cut.pending_bytes(), whole.pending_bytes());
    for (const std::string& line : got.lines) ASSERT_FALSE(absl::StrContains(line, "\n"));
  }
}

}  // namespace
}  // namespace reclaim::kube
