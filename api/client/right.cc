#include "api/client/right.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

constexpr size_t kMostMessage = 512;  // of the server's words: they go into statuses and logs

absl::string_view VerbFor(HttpMethod method, bool has_name, absl::string_view query) {
  switch (method) {
    case HttpMethod::kGet:
      if (has_name) return "get";
      return absl::StrContains(query, "watch=true") ? "watch" : "list";
    case HttpMethod::kPost:
      return "create";
    case HttpMethod::kPut:
      return "update";
    case HttpMethod::kPatch:
      return "patch";
    case HttpMethod::kDelete:
      return has_name ? "delete" : "deletecollection";
  }
  return "";
}

}  // namespace

Right RightFor(const HttpRequest& request) {
  const std::pair<absl::string_view, absl::string_view> target =
      absl::StrSplit(request.target, absl::MaxSplits('?', 1));
  // "/api/v1/…" or "/apis/GROUP/VERSION/…"; then "namespaces/NAME/" where there is more than that.
  const std::vector<absl::string_view> parts = absl::StrSplit(target.first, '/');
  const auto part = [&parts](size_t index) {
    return index < parts.size() ? parts[index] : absl::string_view();
  };
  const bool core = part(1) == "api";
  size_t at = core ? 3 : 4;
  if (part(at) == "namespaces" && parts.size() > at + 2) at += 2;
  Right right;
  if (!core) right.group = std::string(part(2));
  right.resource = std::string(part(at));
  if (!part(at + 2).empty()) absl::StrAppend(&right.resource, "/", part(at + 2));
  right.verb = std::string(VerbFor(request.method, !part(at + 1).empty(), target.second));
  return right;
}

std::string RightText(const Right& right) {
  return absl::StrCat(right.verb, " ", right.resource, right.group.empty() ? "" : " in ",
                      right.group);
}

std::string ForbiddenText(const Right& right, absl::string_view message) {
  return absl::StrCat("the API server forbids Maniple to ", RightText(right),
                      message.empty() ? "" : ": ", Utf8Prefix(message, kMostMessage));
}

}  // namespace maniple
