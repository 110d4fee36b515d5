// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_FUZZ_PARSERS_H_
#define RECLAIM_NODE_AGENT_FUZZ_PARSERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace reclaim::agent {

// A parser of text that somebody else wrote: any bytes must give a value or a status, in bounded
// time.
struct FuzzedParser {
  absl::string_view name;
  void (*parse)(absl::string_view text);
  // A good input to begin with: a path below node-agent/, or the text itself.
  absl::string_view seed_file;
  absl::string_view seed_text;
};

absl::Span<const FuzzedParser> FuzzedParsers();

// The good input itself; empty when its file is not there.
std::string SeedOf(const FuzzedParser& parser);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_FUZZ_PARSERS_H_
