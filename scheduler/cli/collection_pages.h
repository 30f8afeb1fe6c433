// Lists of an API server, page by page, for the command line: under the user's own rights.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/http/curl_transport.h"

namespace maniple {

// Gives `take` every page of the list at `path`, of objects with these labels; "" is any. Each
// error names the path: NotFound, it is not served; PermissionDenied; InvalidArgument, the selector
// makes no sense; Unavailable or DeadlineExceeded, there is no useful answer.
[[nodiscard]] absl::Status ReadPages(CurlTransport& transport, const std::string& path,
                                     absl::string_view label_selector,
                                     const std::function<void(const Json& list)>& take);

}  // namespace maniple
