// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes of a watch, cut into pieces by the bytes themselves, through the splitter and
// the event parser. Must neither crash nor depend on the cuts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "kube/line_splitter.h"
#include "kube/watch_event.h"

namespace {

using reclaim::kube::LineSplitter;
using reclaim::kube::ParseWatchEvent;

constexpr size_t kMaxLineBytes = 4096;

std::vector<std::string> Lines(absl::string_view text, size_t piece_size) {
  std::vector<std::string> lines;
  LineSplitter splitter(kMaxLineBytes);
  while (!text.empty()) {
    const absl::Status status =
        splitter.Append(text.substr(0, piece_size), [&lines](absl::string_view line) {
          lines.emplace_back(line);
          return absl::OkStatus();
        });
    if (!status.ok()) break;
    text.remove_prefix(std::min(piece_size, text.size()));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece_size = 1 + data[0];
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> lines = Lines(text, piece_size);
  if (lines != Lines(text, 1)) std::abort();
  for (const std::string& line : lines) {
    const auto event = ParseWatchEvent(line);
    if (event.ok() && !event->object.is_object()) std::abort();
  }
  return 0;
}
