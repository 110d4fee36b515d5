// SPDX-License-Identifier: Apache-2.0
#include "common/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reclaim {
namespace {

std::atomic<LogLevel> minimum_level{LogLevel::kInfo};

absl::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "UNKNOWN";
}

bool NeedsQuotes(absl::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](unsigned char c) {
           return c == ' ' || c == '"' || c == '=' || c == '\\' || absl::ascii_iscntrl(c);
         });
}

}  // namespace

std::string FormatLogLine(absl::string_view timestamp, LogLevel level, absl::string_view event,
                          std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat(timestamp, " ", LevelName(level), " ", event);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=");
    if (NeedsQuotes(field.value)) {
      absl::StrAppend(&line, "\"", absl::Utf8SafeCEscape(field.value), "\"");
    } else {
      line += field.value;
    }
  }
  line += '\n';
  return line;
}

void SetLogLevel(LogLevel level) { minimum_level.store(level, std::memory_order_relaxed); }

void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields) {
  if (level < minimum_level.load(std::memory_order_relaxed)) return;
  const std::string line =
      FormatLogLine(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()),
                    level, event, fields);
  // A full pipe or a closed descriptor must not stop the program; there is nowhere to report it.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace reclaim
