// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/kswapd_worker.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "node-agent/host/id_list.h"

namespace reclaim::agent {
namespace {

constexpr uint64_t kPfKswapd = 0x00020000;
// The ABI allows 16; room for kernels that allow more.
constexpr int kMaxWorker = 1023;

// Digits only and in [0, max]; SimpleAtoi alone would take "+1" and " 1".
bool ParseNumber(absl::string_view text, int max, int& value) {
  return !text.empty() && text.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(text, &value) && value <= max;
}

absl::Status NotUnderstood(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("not understood: \"", absl::CHexEscape(text.substr(0, 80)), "\""));
}

}  // namespace

absl::StatusOr<ProcessStat> ParseProcessStat(absl::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) {
    return NotUnderstood(text);
  }
  // Field numbers as in proc(5); the first one after the name is 3.
  const std::vector<absl::string_view> fields =
      absl::StrSplit(text.substr(close + 1), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  constexpr size_t kFlags = 9 - 3;
  constexpr size_t kStime = 15 - 3;
  ProcessStat stat;
  stat.comm = std::string(text.substr(open + 1, close - open - 1));
  if (fields.size() <= kStime || !absl::SimpleAtoi(fields[kFlags], &stat.flags) ||
      !absl::SimpleAtoi(fields[kStime], &stat.stime_ticks)) {
    return NotUnderstood(text);
  }
  return stat;
}

absl::StatusOr<absl::Duration> ParseSchedstat(absl::string_view text) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  int64_t nanoseconds;
  if (fields.size() < 3 || !absl::SimpleAtoi(fields[0], &nanoseconds) || nanoseconds < 0) {
    return NotUnderstood(text);
  }
  return absl::Nanoseconds(nanoseconds);
}

std::optional<KswapdName> ParseKswapdName(absl::string_view comm) {
  if (!absl::ConsumePrefix(&comm, "kswapd")) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(comm, ':');
  KswapdName name;
  if (parts.size() > 2 || !ParseNumber(parts[0], kMaxNumaNode, name.numa_node)) return std::nullopt;
  if (parts.size() == 2 && !ParseNumber(parts[1], kMaxWorker, name.worker)) return std::nullopt;
  return name;
}

std::optional<KswapdWorker> KswapdFinder::Read(int pid) const {
  const Maybe<ProcessStat> read = ReadParsed(files_.ProcessStat(pid), ParseProcessStat);
  if (!read.ok() || !read->has_value()) return std::nullopt;
  const ProcessStat& stat = **read;
  if ((stat.flags & kPfKswapd) == 0) return std::nullopt;
  const std::optional<KswapdName> name = ParseKswapdName(stat.comm);
  if (!name.has_value()) return std::nullopt;

  KswapdWorker worker{name->numa_node, name->worker, pid, absl::ZeroDuration()};
  // schedstat has nanoseconds and needs CONFIG_SCHED_INFO; stat has ticks, always.
  if (const Maybe<absl::Duration> time = ReadParsed(files_.ProcessSchedstat(pid), ParseSchedstat);
      time.ok() && time->has_value()) {
    worker.cpu_time = **time;
    return worker;
  }
  static const int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
  worker.cpu_time = absl::Seconds(1) * static_cast<double>(stat.stime_ticks) /
                    static_cast<double>(ticks_per_second);
  return worker;
}

std::vector<KswapdWorker> KswapdFinder::ReadKnown() const {
  std::vector<KswapdWorker> workers;
  for (int pid : pids_) {
    if (std::optional<KswapdWorker> worker = Read(pid)) workers.push_back(*worker);
  }
  std::sort(workers.begin(), workers.end(), [](const KswapdWorker& a, const KswapdWorker& b) {
    return std::tie(a.numa_node, a.worker, a.pid) < std::tie(b.numa_node, b.worker, b.pid);
  });
  return workers;
}

absl::Status KswapdFinder::Walk() {
  const KernelFile directory = files_.ProcessDirectory();
  DIR* dir = opendir(directory.path.c_str());
  if (dir == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("open ", directory.name));
  const absl::Cleanup closer = [dir] { closedir(dir); };
  pids_.clear();
  while (true) {
    errno = 0;
    const dirent* entry = readdir(dir);
    if (entry == nullptr) {
      if (errno != 0) return absl::ErrnoToStatus(errno, absl::StrCat("list ", directory.name));
      return absl::OkStatus();
    }
    int pid;
    if (!ParseNumber(entry->d_name, INT32_MAX, pid)) continue;
    if (Read(pid).has_value()) pids_.push_back(pid);
  }
}

absl::StatusOr<std::vector<KswapdWorker>> KswapdFinder::Find(size_t expected, absl::Duration now) {
  std::vector<KswapdWorker> workers = ReadKnown();
  const bool due = !walked_at_.has_value() || now - *walked_at_ >= kWalkInterval;
  if (workers.size() == expected || (!due && walked_for_ == expected)) return workers;
  walked_at_ = now;
  walked_for_ = expected;
  if (absl::Status status = Walk(); !status.ok()) return status;
  return ReadKnown();
}

}  // namespace reclaim::agent
