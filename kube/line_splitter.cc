// SPDX-License-Identifier: Apache-2.0
#include "kube/line_splitter.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reclaim::kube {

absl::Status LineSplitter::Append(
    absl::string_view piece, const std::function<absl::Status(absl::string_view line)>& on_line) {
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    const absl::string_view part = piece.substr(0, end);
    if (pending_.size() + part.size() > max_line_bytes_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("line of more than ", max_line_bytes_, " bytes"));
    }
    if (end == absl::string_view::npos) {
      pending_.append(part.data(), part.size());
      return absl::OkStatus();
    }
    absl::string_view line = part;
    std::string joined;
    if (!pending_.empty()) {
      joined.swap(pending_);
      joined.append(part.data(), part.size());
      line = joined;
    }
    line = absl::StripSuffix(line, "\r");
    if (!line.empty()) {
      absl::Status status = on_line(line);
      if (!status.ok()) return status;
    }
    piece.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

}  // namespace reclaim::kube
