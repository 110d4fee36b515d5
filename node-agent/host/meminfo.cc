// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/meminfo.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace reclaim::agent {

absl::StatusOr<int64_t> ParseMemTotalKbytes(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::ConsumePrefix(&line, "MemTotal:")) continue;
    int64_t kbytes;
    if (absl::ConsumeSuffix(&line, " kB") && absl::SimpleAtoi(line, &kbytes) && kbytes > 0) {
      return kbytes;
    }
    return absl::InvalidArgumentError("MemTotal is not a positive number of kB");
  }
  return absl::InvalidArgumentError("no line starts with \"MemTotal:\"");
}

Maybe<int64_t> ReadMemTotalKbytes(const KernelFile& file) {
  return ReadParsed(file, ParseMemTotalKbytes);
}

}  // namespace reclaim::agent
