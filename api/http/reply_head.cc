#include "api/http/reply_head.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace maniple {
namespace {

constexpr size_t kLongestContentType = 256;
constexpr int64_t kLongestRetryAfter = 60;  // who waits longer leaves half a gang where it is

int StatusOfLine(absl::string_view line) {
  const size_t space = line.find(' ');
  int status = 0;
  if (space == absl::string_view::npos || !absl::SimpleAtoi(line.substr(space + 1, 3), &status)) {
    return 0;
  }
  return status;
}

// Seconds only: the date form is not used by API servers.
std::optional<absl::Duration> RetryAfter(absl::string_view value) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(value, &seconds) || seconds < 0) return std::nullopt;
  return absl::Seconds(seconds < kLongestRetryAfter ? seconds : kLongestRetryAfter);
}

}  // namespace

std::optional<HttpHead> ReplyHead::OnLine(absl::string_view line) {
  line = absl::StripTrailingAsciiWhitespace(line);
  if (line.empty()) {
    HttpHead done = std::exchange(head_, HttpHead());
    if (done.status < 200) return std::nullopt;
    return done;
  }
  if (absl::StartsWith(line, "HTTP/")) {
    head_ = HttpHead();
    head_.status = StatusOfLine(line);
    return std::nullopt;
  }
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  const absl::string_view name = line.substr(0, colon);
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (absl::EqualsIgnoreCase(name, "content-type")) {
    head_.content_type = std::string(value.substr(0, kLongestContentType));
  } else if (absl::EqualsIgnoreCase(name, "retry-after")) {
    head_.retry_after = RetryAfter(value);
  }
  return std::nullopt;
}

}  // namespace maniple
