// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_LOG_H_
#define RECLAIM_COMMON_LOG_H_

#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace reclaim {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// One key=value pair of a log line. Numbers convert through absl::AlphaNum.
struct LogField {
  LogField(absl::string_view key, const absl::AlphaNum& value) : key(key), value(value.Piece()) {}
  absl::string_view key;
  std::string value;
};

// Writes one line to standard error:
//   2026-11-30T18:00:00.123Z INFO policy applied node=node1 workers=4
// Values with spaces, quotes or control characters are quoted and escaped, so one event is always
// one line. Thread-safe: a line is one write(2). Log transitions, not ticks; never a secret.
void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields = {});

inline void LogDebug(absl::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kDebug, event, fields);
}
inline void LogInfo(absl::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kInfo, event, fields);
}
inline void LogWarning(absl::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kWarning, event, fields);
}
inline void LogError(absl::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kError, event, fields);
}

// Lines below `level` are dropped from now on; the default is kInfo.
void SetLogLevel(LogLevel level);

// Formats without writing; `timestamp` is the RFC 3339 text to start with.
std::string FormatLogLine(absl::string_view timestamp, LogLevel level, absl::string_view event,
                          std::initializer_list<LogField> fields);

}  // namespace reclaim

#endif  // RECLAIM_COMMON_LOG_H_
