// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/last_written.h"

#include <gtest/gtest.h>

namespace reclaim::op {
namespace {

struct Thing {
  std::string resource_version;
};

std::shared_ptr<const Thing> Cached(const char* version) {
  return std::make_shared<const Thing>(Thing{version});
}

TEST(LastWritten, BridgesTheGapUntilTheCacheHasCaughtUp) {
  LastWritten<Thing> written;
  const absl::Duration now = absl::Seconds(100);
  EXPECT_EQ(written.Newest("a", Cached("1"), now)->resource_version, "1");
  EXPECT_EQ(written.Newest("a", nullptr, now), nullptr);
  written.Remember("a", {"2"}, now);
  EXPECT_EQ(written.Newest("a", Cached("1"), now)->resource_version, "2");
  EXPECT_EQ(written.Newest("a", nullptr, now)->resource_version, "2");
  EXPECT_EQ(written.Newest("b", Cached("1"), now)->resource_version, "1");
  EXPECT_EQ(written.Newest("a", Cached("2"), now)->resource_version, "2");
  // From here on the cache is the truth again, whatever it shows.
  EXPECT_EQ(written.Newest("a", Cached("3"), now)->resource_version, "3");
}

TEST(LastWritten, BelievesTheCacheAfterAWhile) {
  LastWritten<Thing> written;
  written.Remember("a", {"2"}, absl::Seconds(100));
  EXPECT_EQ(written.Newest("a", Cached("3"), absl::Seconds(109))->resource_version, "2");
  EXPECT_EQ(written.Newest("a", Cached("3"), absl::Seconds(110))->resource_version, "3");
}

TEST(LastWritten, SaysHowLongItIsTrusted) {
  LastWritten<Thing> written;
  EXPECT_EQ(written.TrustLeft("a", absl::Seconds(100)), std::nullopt);
  written.Remember("a", {"2"}, absl::Seconds(100));
  EXPECT_EQ(written.TrustLeft("a", absl::Seconds(103)), absl::Seconds(7));
  written.Newest("a", Cached("2"), absl::Seconds(103));
  EXPECT_EQ(written.TrustLeft("a", absl::Seconds(103)), std::nullopt) << "the cache has it";
}

TEST(LastWritten, Forgets) {
  LastWritten<Thing> written;
  written.Remember("a", {"2"}, absl::Seconds(100));
  written.Forget("a");
  EXPECT_EQ(written.Newest("a", nullptr, absl::Seconds(100)), nullptr);
}

}  // namespace
}  // namespace reclaim::op
