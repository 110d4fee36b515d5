// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_CONTROL_RECLAIM_RATE_H_
#define RECLAIM_NODE_AGENT_CONTROL_RECLAIM_RATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "common/units.h"

namespace reclaim::agent {

// How much one write asks for. Small, so that whatever must stop a target stops it within one
// chunk.
inline constexpr int64_t kMinChunkBytes =
    int64_t{128} * 1024;  // what the kernel takes off an LRU at once
inline constexpr int64_t kMaxChunkBytes = int64_t{16} * 1024 * 1024;

// A file that the target reclaims through: a NUMA node's or a cgroup's. It rests after EAGAIN.
struct PlaceState {
  int fruitless = 0;  // EAGAINs in a row
  absl::Duration rests_until = -absl::InfiniteDuration();
};

// Where one target stands. Times are monotonic.
struct RateProgress {
  double credit_bytes = 0;   // may be asked for now
  absl::Duration credit_at;  // when credit_bytes was right
  size_t next_place = 0;     // places take turns
  std::vector<PlaceState> places;
};

struct ReclaimChunk {
  int64_t bytes = 0;        // a multiple of the page size; 0 = nothing now
  size_t place = 0;         // which place to ask, when bytes > 0
  absl::Duration wait;      // when bytes == 0: ask again after this; infinite = not before a change
  double credit_bytes = 0;  // at `at`, before anything is taken
  absl::Duration at;        // when it was computed
};

// Next chunk of a target whose goal is a rate.
//
// Pure: no clock, no I/O. A token bucket: credit grows with the time that passed and is never more
// than one chunk, so what could not be taken in time is not caught up with later. A chunk is what
// the rate gives in a second, within [kMinChunkBytes, kMaxChunkBytes] and rounded down to pages.
// Places take turns; one that rests is passed over, and when all rest the target waits for the
// first. A rate of 0, or no place, waits for ever.
ReclaimChunk NextReclaimChunk(const Rate& rate, const RateProgress& progress, int64_t page_bytes,
                              absl::Duration now);

// The progress after `chunk` (bytes > 0) was tried. `fruitless`: the kernel said EAGAIN, or
// refused: the place rests from `ended` for 1 s, doubling to 64 s; else it has no history. Pure.
RateProgress AfterChunk(RateProgress progress, const ReclaimChunk& chunk, bool fruitless,
                        absl::Duration ended);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_CONTROL_RECLAIM_RATE_H_
