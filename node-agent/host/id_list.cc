// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/id_list.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reclaim::agent {

absl::StatusOr<std::vector<int>> ParseIdList(absl::string_view text) {
  std::vector<int> ids;
  const absl::string_view list = absl::StripAsciiWhitespace(text);
  if (list.empty()) return ids;
  for (absl::string_view range : absl::StrSplit(list, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(range, '-');
    int first;
    int last;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || first < 0 || last < first || last > kMaxNumaNode ||
        (!ids.empty() && first <= ids.back())) {
      return absl::InvalidArgumentError(
          absl::StrCat("not a list of NUMA nodes: \"", absl::CHexEscape(list.substr(0, 80)), "\""));
    }
    for (int id = first; id <= last; ++id) ids.push_back(id);
  }
  return ids;
}

Maybe<std::vector<int>> ReadIdList(const KernelFile& file) { return ReadParsed(file, ParseIdList); }

}  // namespace reclaim::agent
