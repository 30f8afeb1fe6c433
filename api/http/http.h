// HTTP as data: what a machine asks for and what it hears back. No sockets, no threads, no library
// types.
//
// A machine (client session, elector, writer) starts requests on a Transport and is told what
// became of them through HttpInput values, in order per request: one HttpHead, any number of
// HttpChunk, one HttpEnd; or HttpEnd alone when no reply came. The curl shell
// (api/http/curl_transport.h) and the simulation's network both implement Transport.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/id.h"

namespace maniple {

enum class HttpMethod { kGet, kPost, kPut, kPatch, kDelete };
[[nodiscard]] absl::string_view HttpMethodName(HttpMethod method);

// Which connections a request may use: a watch has one of its own, writes share a bounded pool, and
// the Lease is never queued behind either.
enum class HttpLane { kWatch, kList, kWrite, kLease };

struct HttpRequest {
  HttpMethod method = HttpMethod::kGet;
  std::string target;  // path and query, e.g. "/api/v1/pods?watch=true"
  std::string content_type;
  std::string body;
  HttpLane lane = HttpLane::kWrite;
  absl::Duration timeout = absl::Seconds(10);  // of the whole exchange; infinite for watches
  // No byte for so long ends it with DeadlineExceeded; head_timeout holds until the head came.
  absl::Duration idle_timeout = absl::InfiniteDuration();
  absl::Duration head_timeout = absl::InfiniteDuration();
  // On a connection of its own, not on one that stands idle: for a retry. Behind a load balancer
  // the idle ones may all lead to the server that has just failed.
  bool fresh_connection = false;
  // From this moment on not a byte more is sent: a fence. Ends it with DeadlineExceeded.
  absl::Time send_by = absl::InfiniteFuture();
};

// Chosen by the machine that starts the request, unique within its Transport.
using RequestId = uint64_t;

struct HttpHead {
  int status = 0;
  std::string content_type;
  std::optional<absl::Duration> retry_after;
};
struct HttpChunk {
  std::string bytes;
};
struct HttpEnd {
  // OK: the reply ended as HTTP says. Unavailable: no connection or it broke. DeadlineExceeded: too
  // slow. Unauthenticated: no credential could be had. Anything else: as it says.
  absl::Status status;
};
struct HttpInput {
  RequestId request = 0;
  std::variant<HttpHead, HttpChunk, HttpEnd> what;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void Start(RequestId id, HttpRequest request) = 0;
  // Nothing more is heard of the request. Unknown ids are ignored.
  virtual void Cancel(RequestId id) = 0;
};

// "%XX" for everything but unreserved characters (RFC 3986).
[[nodiscard]] std::string UrlEncoded(absl::string_view text);
// The inverse; a broken escape stays as it is.
[[nodiscard]] std::string PercentDecoded(absl::string_view text);
// The same within a query, where '+' is a space.
[[nodiscard]] std::string QueryDecoded(absl::string_view text);

}  // namespace maniple
