// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_TESTING_EVENTUALLY_H_
#define RECLAIM_COMMON_TESTING_EVENTUALLY_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reclaim {

// How long a test waits for something that should happen within milliseconds; generous, since
// sanitizers and a loaded machine slow everything down.
inline constexpr absl::Duration kPatience = absl::Seconds(30);

// Waits until `holds`, looking every 10 ms; else fails with what was awaited and `describe()`, the
// last thing seen.
inline ::testing::AssertionResult Eventually(
    const std::string& what, const std::function<bool()>& holds, absl::Duration limit = kPatience,
    const std::function<std::string()>& describe = [] { return std::string(); }) {
  const absl::Time deadline = absl::Now() + limit;
  while (true) {
    if (holds()) return ::testing::AssertionSuccess();
    if (absl::Now() >= deadline) {
      return ::testing::AssertionFailure() << "waited " << absl::FormatDuration(limit) << " for "
                                           << what << "; last seen: " << describe();
    }
    absl::SleepFor(absl::Milliseconds(10));
  }
}

}  // namespace reclaim

#endif  // RECLAIM_COMMON_TESTING_EVENTUALLY_H_
