// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_UNITS_H_
#define RECLAIM_COMMON_UNITS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// How the API writes plain numbers: "512Mi", "10m", "0.1%", "64Mi/m".
//
// Pure. Every error is InvalidArgument and one sentence that says what was read and what is wanted,
// with an example; the caller adds the name of the field. Surrounding white space is an error.
namespace reclaim {

// Bytes of a Kubernetes quantity: a signed decimal number and one of the suffixes Ki Mi Gi Ti Pi
// Ei, n u m k M G T P E, or an exponent (1e3, 1E3). A value that is not a whole number of bytes
// ("0.5", "100m") or does not fit in int64 is refused, never rounded.
absl::StatusOr<int64_t> ParseQuantity(absl::string_view text);

// Shortest exact quantity with a binary suffix: 536870912 -> "512Mi", 1000 -> "1000".
// ParseQuantity(FormatQuantity(n)) == n for every n.
std::string FormatQuantity(int64_t bytes);

// Duration in Go's grammar, as Kubernetes has it: "300ms", "10m", "1h30m", "1.5h", "-2s", "0".
// Units ns, us, µs, ms, s, m, h; there is no unit for a day. Exact to the nanosecond (further
// digits are cut off) up to about 292 years, as in Go.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// Ratio of a percentage: "0.1%" -> 0.001, "150%" -> 1.5. Never negative.
absl::StatusOr<double> ParsePercent(absl::string_view text);

// An amount of memory per unit of time.
struct Rate {
  int64_t bytes = 0;
  absl::Duration period = absl::Seconds(1);  // one second, minute, hour or day

  double BytesPerSecond() const {
    return static_cast<double>(bytes) / absl::ToDoubleSeconds(period);
  }
};

// "64Mi/m": a quantity, not negative, and a unit of time out of s, m, h, d.
absl::StatusOr<Rate> ParseRate(absl::string_view text);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_UNITS_H_
