// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_HOST_FILE_IO_H_
#define RECLAIM_NODE_AGENT_HOST_FILE_IO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

// What reading a kernel file gives: nullopt = this kernel does not have it, or no longer has what
// it is about (ENODEV: a NUMA node whose memory went offline); a status = it could not be read or
// understood, with the file's name and errno's text.
template <typename T>
using Maybe = absl::StatusOr<std::optional<T>>;

// Longest text that any of the small files may have; zoneinfo grows with zones times CPUs.
inline constexpr size_t kMaxSmallFile = size_t{256} * 1024;
inline constexpr size_t kMaxZoneinfo = size_t{16} * 1024 * 1024;

// The whole text of `file`. Longer than `max_bytes`: OutOfRange, nothing is returned in part.
Maybe<std::string> ReadFile(const KernelFile& file, size_t max_bytes = kMaxSmallFile);

// What `parse` makes of the text of `file`. Its error becomes InvalidArgument, with the file's
// name.
template <typename T>
Maybe<T> ReadParsed(const KernelFile& file, absl::StatusOr<T> (*parse)(absl::string_view),
                    size_t max_bytes = kMaxSmallFile) {
  Maybe<std::string> text = ReadFile(file, max_bytes);
  if (!text.ok()) return text.status();
  if (!text->has_value()) return std::nullopt;
  absl::StatusOr<T> value = parse(**text);
  if (!value.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file.name, ": ", value.status().message()));
  }
  return *std::move(value);
}

// Whether the kernel has `file`; a file that may not be looked at counts as absent.
bool Exists(const KernelFile& file);

// Size of a page of memory, in bytes.
int64_t PageBytes();

// One decimal number and white space, as sysctls print it. Error: InvalidArgument.
absl::StatusOr<int64_t> ParseInteger(absl::string_view text);
Maybe<int64_t> ReadInteger(const KernelFile& file);

// Writes to kernel files; an interface, because errors of the kernel must be tested.
//
// Thread-safe.
class KernelWriter {
 public:
  virtual ~KernelWriter() = default;

  // One write(2) of the whole `text`. Returns 0, or errno as the kernel gave it.
  [[nodiscard]] virtual int Write(const KernelFile& file, absl::string_view text) = 0;
};

class RealKernelWriter : public KernelWriter {
 public:
  [[nodiscard]] int Write(const KernelFile& file, absl::string_view text) override;
};

// "EINVAL (Invalid argument)".
std::string ErrnoName(int error_number);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_HOST_FILE_IO_H_
