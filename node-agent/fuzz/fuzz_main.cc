// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry; RECLAIM_FUZZED_PARSER is the name of the parser (fuzz/parsers.h).
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "node-agent/fuzz/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto& parser : reclaim::agent::FuzzedParsers()) {
    if (parser.name != RECLAIM_FUZZED_PARSER) continue;
    parser.parse(absl::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
  }
  std::abort();
}
