#include "scheduler/cli/exchange.h"

#include <utility>
#include <variant>

#include "api/base/status_macros.h"

namespace maniple {

absl::StatusOr<ApiAnswer> Exchange(CurlTransport& transport, HttpRequest request,
                                   absl::Duration timeout) {
  request.lane = HttpLane::kList;
  request.timeout = timeout;
  transport.Start(1, std::move(request));
  ApiAnswer answer;
  while (true) {
    for (HttpInput& input : transport.Poll(timeout)) {
      if (auto* head = std::get_if<HttpHead>(&input.what)) answer.status = head->status;
      if (auto* chunk = std::get_if<HttpChunk>(&input.what)) answer.body += chunk->bytes;
      if (auto* end = std::get_if<HttpEnd>(&input.what)) {
        RETURN_IF_ERROR(end->status);
        return answer;
      }
    }
  }
}

}  // namespace maniple
