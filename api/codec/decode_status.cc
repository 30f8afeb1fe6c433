// What the server says of a request that failed: a Status, or whatever a proxy puts in its place.
#include "absl/strings/ascii.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

constexpr size_t kMostMessage = 1024;
// A Status is small; of a larger body only the beginning is worth showing.
constexpr size_t kMostStatusBytes = 256 * 1024;
constexpr int64_t kMostRetryAfterSeconds = 60;  // as of the head (api/http/reply_head.cc)

std::string Message(absl::string_view text) {
  // A replacement character takes more room than the byte it stands for, so cut again.
  const std::string printable = Printable(Utf8Prefix(text, kMostMessage));
  return std::string(Utf8Prefix(printable, kMostMessage));
}

}  // namespace

ApiStatus DecodeStatus(int http_code, absl::string_view body) {
  ApiStatus out;
  out.code = http_code;
  const absl::StatusOr<Json> parsed =
      body.size() <= kMostStatusBytes ? Json::Parse(body) : absl::StatusOr<Json>(Json());
  if (!parsed.ok() || (*parsed)["kind"].AsString() != "Status") {
    out.message = Message(absl::StripAsciiWhitespace(body));
    return out;
  }
  const Json& status = *parsed;
  const Json& details = status["details"];
  const int64_t code = status["code"].AsInt();
  if (code >= 100 && code <= 599) out.code = static_cast<int>(code);
  out.reason = Message(status["reason"].AsString());
  out.message = Message(status["message"].AsString());
  if (const std::vector<Json>& causes = details["causes"].items(); !causes.empty()) {
    out.cause = causes.front()["reason"].AsString();
  }
  const int64_t retry_after = details["retryAfterSeconds"].AsInt();
  if (retry_after > 0 && retry_after <= kMostRetryAfterSeconds) {
    out.retry_after = absl::Seconds(retry_after);
  }
  return out;
}

}  // namespace maniple
