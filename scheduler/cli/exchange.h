// Single exchanges of the command line with an API server, whole, under the user's own rights.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/http/curl_transport.h"
#include "api/http/http.h"

namespace maniple {

struct ApiAnswer {
  int status = 0;
  std::string body;
};

// Waits for it. Unavailable or DeadlineExceeded: no answer came.
[[nodiscard]] absl::StatusOr<ApiAnswer> Exchange(CurlTransport& transport, HttpRequest request,
                                                 absl::Duration timeout = absl::Seconds(5));

}  // namespace maniple
