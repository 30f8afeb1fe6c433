#include "api/base/log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace maniple {
namespace {

LogOptions g_options;  // Written once before threads start (ConfigureLog), then only read.

const char* Basename(const char* path) {
  const char* slash = path;
  for (const char* p = path; *p != '\0'; ++p) {
    if (*p == '/') slash = p + 1;
  }
  return slash;
}

const char* NameOf(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kInfo:
      return "info";
    case LogSeverity::kWarning:
      return "warning";
    case LogSeverity::kError:
      return "error";
  }
  return "unknown";
}

// As it stands between the quotes of a JSON string.
std::string JsonEscaped(absl::string_view text) {
  return OneLine(absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}));
}

void WriteLine(const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

}  // namespace

std::string OneLine(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&out, "\\u%04x", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      absl::StrAppendFormat(&out, "\\u%04x", next);  // U+009B begins a command to a terminal, too
      ++at;
    } else {
      out += text[at];
    }
  }
  return out;
}

void ConfigureLog(const LogOptions& options) { g_options = options; }
int LogVerbosity() { return g_options.verbosity; }

namespace internal {

LogRecord::LogRecord(LogSeverity severity, const char* file, int line)
    : severity_(severity), file_(file), line_(line) {}

LogRecord::~LogRecord() {
  if (severity_ < g_options.least) return;
  const std::string stamp =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  const std::string text =
      g_options.format == LogFormat::kJson ? JsonEscaped(stream_.str()) : OneLine(stream_.str());
  if (g_options.format == LogFormat::kJson) {
    WriteLine(
        absl::StrFormat("{\"ts\":\"%s\",\"level\":\"%s\",\"caller\":\"%s:%d\",\"msg\":\"%s\"}\n",
                        stamp, NameOf(severity_), Basename(file_), line_, text));
  } else {
    WriteLine(absl::StrFormat("%s %-7s %s:%d] %s\n", stamp, NameOf(severity_), Basename(file_),
                              line_, text));
  }
}

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  stream_ << "CHECK failed at " << Basename(file) << ":" << line << ": " << condition << " ";
}

CheckFailure::~CheckFailure() {
  WriteLine(stream_.str() + "\n");
  std::abort();
}

}  // namespace internal
}  // namespace maniple
