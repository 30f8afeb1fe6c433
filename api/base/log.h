// The logging shim: one line per record on stderr, as text or JSON.
//
//   LOG(INFO) << "bound gang " << name;
//   VLOG(2) << "decide took " << micros << " us";     // only with -v 2 or more
//
// Any thread; a record is one write(2). Configure once, before threads start. Callers never pass
// secrets: tokens live in `Secret` (api/base/secret.h), which prints as "<secret>".
#pragma once

#include <sstream>
#include <string>

#include "absl/strings/string_view.h"
#include "api/base/check.h"

namespace maniple {

enum class LogSeverity { kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;
  LogSeverity least = LogSeverity::kInfo;
};

// Control characters as escapes: text of strangers can neither forge a second line nor steer a
// terminal.
[[nodiscard]] std::string OneLine(absl::string_view text);

void ConfigureLog(const LogOptions& options);
[[nodiscard]] int LogVerbosity();

namespace internal {

class LogRecord final {
 public:
  LogRecord(LogSeverity severity, const char* file, int line);
  ~LogRecord();
  std::ostream& stream() { return stream_; }

 private:
  LogSeverity severity_;
  const char* file_;
  int line_;
  std::ostringstream stream_;
};

inline constexpr LogSeverity kSeverityINFO = LogSeverity::kInfo;
inline constexpr LogSeverity kSeverityWARNING = LogSeverity::kWarning;
inline constexpr LogSeverity kSeverityERROR = LogSeverity::kError;

}  // namespace internal
}  // namespace maniple

#define LOG(severity)                                                                          \
  ::maniple::internal::LogRecord(::maniple::internal::kSeverity##severity, __FILE__, __LINE__) \
      .stream()
#define VLOG(level)                          \
  if (::maniple::LogVerbosity() < (level)) { \
  } else                                     \
    LOG(INFO)
