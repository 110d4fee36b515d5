// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_FUZZ_PARSERS_H_
#define RECLAIM_NODE_AGENT_FUZZ_PARSERS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace reclaim::agent {

// A parser of text that somebody else wrote: any bytes must give a value or a status, in bounded
// time.
struct FuzzedParser {
  absl::string_view name;
  void (*parse)(absl::string_view text);
};

absl::Span<const FuzzedParser> FuzzedParsers();

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_FUZZ_PARSERS_H_
