// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TESTING_WAIT_H_
#define RECLAIM_KUBE_TESTING_WAIT_H_

#include <functional>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace reclaim::kube::testing {

// How long any test waits for something that should happen within milliseconds; generous, since
// sanitizers and a loaded machine slow everything down.
inline constexpr absl::Duration kPatience = absl::Seconds(20);

// Waits until `condition` holds; the failure names what was awaited.
inline ::testing::AssertionResult WaitFor(absl::string_view what,
                                          const std::function<bool()>& condition) {
  const absl::Time end = absl::Now() + kPatience;
  while (!condition()) {
    if (absl::Now() > end) {
      return ::testing::AssertionFailure()
             << "waited " << absl::FormatDuration(kPatience) << " for: " << what;
    }
    absl::SleepFor(absl::Milliseconds(2));
  }
  return ::testing::AssertionSuccess();
}

}  // namespace reclaim::kube::testing

#endif  // RECLAIM_KUBE_TESTING_WAIT_H_
