#include "scheduler/cli/collection_pages.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/base/status_macros.h"
#include "api/codec/decode.h"
#include "api/http/http.h"
#include "scheduler/cli/exchange.h"

namespace maniple {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);  // for one page
constexpr int kPage = 500;

absl::Status Refusal(const std::string& path, const ApiAnswer& answer) {
  const std::string text =
      absl::StrCat("list ", path, ": ", DecodeStatus(answer.status, answer.body).message);
  if (answer.status == 400) return absl::InvalidArgumentError(text);
  if (answer.status == 403) return absl::PermissionDeniedError(text);
  if (answer.status == 404) return absl::NotFoundError(text);
  return absl::UnavailableError(text);
}

// Where to go on when the state that the first page showed is compacted: the rest is of now.
// Source: metadata.continue of the Status that the API server then answers with.
std::string RestOfExpired(const ApiAnswer& answer) {
  if (answer.status != 410) return "";
  const absl::StatusOr<Json> status = Json::Parse(answer.body);
  return status.ok() ? (*status)["metadata"]["continue"].AsString() : "";
}

}  // namespace

absl::Status ReadPages(CurlTransport& transport, const std::string& path,
                       absl::string_view label_selector,
                       const std::function<void(const Json& list)>& take) {
  std::string first = absl::StrCat(path, "?limit=", kPage);
  if (!label_selector.empty()) {
    absl::StrAppend(&first, "&labelSelector=", UrlEncoded(label_selector));
  }
  std::string next;
  do {
    HttpRequest request;
    request.target = next.empty() ? first : absl::StrCat(first, "&continue=", UrlEncoded(next));
    const absl::StatusOr<ApiAnswer> answer = Exchange(transport, std::move(request), kPatience);
    if (!answer.ok()) return Annotate(answer.status(), absl::StrCat("list ", path));
    if (const std::string after = RestOfExpired(*answer); !after.empty() && after != next) {
      next = after;
      continue;
    }
    if (answer->status != 200) return Refusal(path, *answer);
    const absl::StatusOr<Json> list = Json::Parse(answer->body);
    if (!list.ok()) return Annotate(list.status(), path);
    take(*list);
    next = (*list)["metadata"]["continue"].AsString();
  } while (!next.empty());
  return absl::OkStatus();
}

}  // namespace maniple
