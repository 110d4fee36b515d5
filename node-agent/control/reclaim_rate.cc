// SPDX-License-Identifier: Apache-2.0
#include "node-agent/control/reclaim_rate.h"

#include <algorithm>

namespace reclaim::agent {
namespace {

constexpr absl::Duration kFirstRest = absl::Seconds(1);
constexpr int kMaxDoublings = 6;  // 64 s

int64_t ChunkBytes(double bytes_per_second, int64_t page_bytes) {
  const double wanted = std::clamp(bytes_per_second, static_cast<double>(kMinChunkBytes),
                                   static_cast<double>(kMaxChunkBytes));
  return std::max(static_cast<int64_t>(wanted) / page_bytes, int64_t{1}) * page_bytes;
}

}  // namespace

ReclaimChunk NextReclaimChunk(const Rate& rate, const RateProgress& progress, int64_t page_bytes,
                              absl::Duration now) {
  ReclaimChunk chunk;
  chunk.wait = absl::InfiniteDuration();
  chunk.credit_bytes = progress.credit_bytes;
  chunk.at = now;
  const double bytes_per_second = rate.BytesPerSecond();
  if (bytes_per_second <= 0 || progress.places.empty()) return chunk;

  const int64_t full = ChunkBytes(bytes_per_second, page_bytes);
  const absl::Duration elapsed = std::max(now - progress.credit_at, absl::ZeroDuration());
  chunk.credit_bytes =
      std::min(progress.credit_bytes + bytes_per_second * absl::ToDoubleSeconds(elapsed),
               static_cast<double>(full));

  absl::Duration first_awake = absl::InfiniteDuration();
  const size_t count = progress.places.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t place = (progress.next_place + i) % count;
    first_awake = std::min(first_awake, progress.places[place].rests_until);
    if (now < progress.places[place].rests_until) continue;
    const double missing = static_cast<double>(full) - chunk.credit_bytes;
    if (missing > 0) {
      // A nanosecond more, so that rounding cannot wake the caller a moment too early for ever.
      chunk.wait = absl::Seconds(missing / bytes_per_second) + absl::Nanoseconds(1);
      return chunk;
    }
    chunk.bytes = full;
    chunk.place = place;
    chunk.wait = absl::ZeroDuration();
    return chunk;
  }
  chunk.wait = first_awake - now;
  return chunk;
}

RateProgress AfterChunk(RateProgress progress, const ReclaimChunk& chunk, bool fruitless,
                        absl::Duration ended) {
  progress.credit_bytes = std::max(chunk.credit_bytes - static_cast<double>(chunk.bytes), 0.0);
  progress.credit_at = chunk.at;
  progress.next_place = chunk.place + 1;
  PlaceState& place = progress.places[chunk.place];
  if (fruitless) {
    place.rests_until = ended + kFirstRest * (1 << std::min(place.fruitless, kMaxDoublings));
    ++place.fruitless;
  } else {
    place = PlaceState();
  }
  return progress;
}

}  // namespace reclaim::agent
