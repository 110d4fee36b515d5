// SPDX-License-Identifier: Apache-2.0
#include "common/process_metrics.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace reclaim {
namespace {

using prometheus::MetricType;

enum Row {
  kCpuSeconds,
  kResidentBytes,
  kVirtualBytes,
  kOpenFds,
  kMaxFds,
  kThreads,
  kStartTime,
  kBuildInfo,
};

const std::vector<MetricRow>& Rows() {
  static const auto& rows = *new std::vector<MetricRow>{
      {"process_cpu_seconds_total", MetricType::Counter, "CPU time of this process, in seconds."},
      {"process_resident_memory_bytes", MetricType::Gauge, "Resident memory of this process."},
      {"process_virtual_memory_bytes", MetricType::Gauge, "Virtual memory of this process."},
      {"process_open_fds", MetricType::Gauge, "Open file descriptors of this process."},
      {"process_max_fds", MetricType::Gauge, "File descriptors that this process may open."},
      {"process_threads", MetricType::Gauge, "Threads of this process."},
      {"process_start_time_seconds", MetricType::Gauge,
       "Start of this process, in seconds since the epoch."},
      {"reclaim_build_info",
       MetricType::Gauge,
       "Always 1; the labels tell what runs.",
       {"component", "version"}},
  };
  return rows;
}

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

// The number behind `key` at the start of a line, up to the next blank.
std::optional<double> NumberAfter(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, key)) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    double value = 0;
    if (words.empty()) return std::nullopt;
    if (words[0] == "unlimited") return std::numeric_limits<double>::infinity();
    if (!absl::SimpleAtod(words[0], &value)) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

// Of /proc/self/stat; the indexes count from the state (field 3), because the command in front of
// it may have blanks.
struct Stat {
  double cpu_ticks = 0;
  double threads = 0;
  double start_ticks = 0;
  double virtual_bytes = 0;
  double resident_pages = 0;
};

std::optional<Stat> ReadStat(const std::string& proc_root) {
  const std::optional<std::string> text = ReadFile(absl::StrCat(proc_root, "/self/stat"));
  if (!text.has_value()) return std::nullopt;
  const size_t command_end = text->rfind(") ");
  if (command_end == std::string::npos) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(*text).substr(command_end + 2), ' ');
  constexpr size_t kUtime = 11, kStime = 12, kThreadCount = 17, kStart = 19, kVirtual = 20,
                   kResident = 21;
  if (fields.size() <= kResident) return std::nullopt;
  Stat stat;
  double utime = 0;
  double stime = 0;
  if (!absl::SimpleAtod(fields[kUtime], &utime) || !absl::SimpleAtod(fields[kStime], &stime) ||
      !absl::SimpleAtod(fields[kThreadCount], &stat.threads) ||
      !absl::SimpleAtod(fields[kStart], &stat.start_ticks) ||
      !absl::SimpleAtod(fields[kVirtual], &stat.virtual_bytes) ||
      !absl::SimpleAtod(fields[kResident], &stat.resident_pages)) {
    return std::nullopt;
  }
  stat.cpu_ticks = utime + stime;
  return stat;
}

std::optional<double> CountOpenFds(const std::string& proc_root) {
  DIR* directory = opendir(absl::StrCat(proc_root, "/self/fd").c_str());
  if (directory == nullptr) return std::nullopt;
  int count = 0;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(directory);
  return count - 1;  // the directory itself
}

}  // namespace

absl::string_view Version() { return RECLAIM_VERSION; }

ProcessMetrics::ProcessMetrics(std::string component, std::string proc_root)
    : component_(std::move(component)), proc_root_(std::move(proc_root)) {}

absl::Span<const MetricRow> ProcessMetrics::Table() { return Rows(); }

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  const auto add = [&families](Row row, std::optional<double> value) {
    if (!value.has_value()) return;
    prometheus::MetricFamily family = NewFamily(Rows()[row]);
    AddSample(Rows()[row], {}, *value, family);
    families.push_back(std::move(family));
  };

  if (const std::optional<Stat> stat = ReadStat(proc_root_); stat.has_value()) {
    const double ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    add(kCpuSeconds, stat->cpu_ticks / ticks_per_second);
    add(kResidentBytes, stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    add(kVirtualBytes, stat->virtual_bytes);
    add(kThreads, stat->threads);
    if (const auto boot = ReadFile(absl::StrCat(proc_root_, "/stat")); boot.has_value()) {
      if (const auto boot_time = NumberAfter(*boot, "btime "); boot_time.has_value()) {
        add(kStartTime, *boot_time + stat->start_ticks / ticks_per_second);
      }
    }
  }
  add(kOpenFds, CountOpenFds(proc_root_));
  if (const auto limits = ReadFile(absl::StrCat(proc_root_, "/self/limits")); limits.has_value()) {
    add(kMaxFds, NumberAfter(*limits, "Max open files"));
  }

  prometheus::MetricFamily build_info = NewFamily(Rows()[kBuildInfo]);
  AddSample(Rows()[kBuildInfo], {component_, Version()}, 1, build_info);
  families.push_back(std::move(build_info));
  return families;
}

}  // namespace reclaim
