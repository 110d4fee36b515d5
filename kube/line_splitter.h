// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_LINE_SPLITTER_H_
#define RECLAIM_KUBE_LINE_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reclaim::kube {

// Makes lines out of a byte stream cut anywhere: a watch sends one JSON object a line, and the
// borders of its pieces mean nothing.
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  // Calls `on_line` for each line that `piece` completes, without its end ("\n" or "\r\n"); empty
  // lines are skipped. The first status of `on_line` that is not OK is returned at once.
  // kResourceExhausted when a line exceeds the limit; the splitter is of no use after an error.
  absl::Status Append(absl::string_view piece,
                      const std::function<absl::Status(absl::string_view line)>& on_line);

  // Bytes of a line whose end has not come yet.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  const size_t max_line_bytes_;
  std::string pending_;
};

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_LINE_SPLITTER_H_
