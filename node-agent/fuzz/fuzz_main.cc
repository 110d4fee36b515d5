// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entries; RECLAIM_FUZZED_PARSER is the name of the parser (fuzz/parsers.h).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "node-agent/fuzz/parsers.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

const reclaim::agent::FuzzedParser& Parser() {
  for (const auto& parser : reclaim::agent::FuzzedParsers()) {
    if (parser.name == RECLAIM_FUZZED_PARSER) return parser;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Parser().parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

// The search starts from nothing; from there the first step is the good input.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int) {
  static const std::string seed = reclaim::agent::SeedOf(Parser());
  if (size > 1) return LLVMFuzzerMutate(data, size, max_size);
  const size_t length = std::min(seed.size(), max_size);
  std::copy_n(seed.begin(), length, data);
  return length;
}
