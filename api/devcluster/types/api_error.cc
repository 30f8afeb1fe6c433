#include "api/devcluster/types/api_error.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {
namespace {

Json StatusObject(absl::string_view status) {
  return Json::Object(
      {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::Object()}, {"status", status}});
}

Json DetailsOf(const ApiError& error) {
  Json details = Json::Object();
  if (!error.name.empty()) details.Set("name", error.name);
  if (!error.group.empty()) details.Set("group", error.group);
  if (!error.kind.empty()) details.Set("kind", error.kind);
  if (!error.uid.empty()) details.Set("uid", error.uid);
  if (!error.causes.empty()) {
    Json causes = Json::Array();
    for (const StatusCause& cause : error.causes) {
      Json item = Json::Object();
      if (!cause.reason.empty()) item.Set("reason", cause.reason);
      if (!cause.message.empty()) item.Set("message", cause.message);
      if (!cause.field.empty()) item.Set("field", cause.field);
      causes.Append(std::move(item));
    }
    details.Set("causes", std::move(causes));
  }
  if (error.retry_after_seconds > 0) details.Set("retryAfterSeconds", error.retry_after_seconds);
  return details;
}

ApiError AboutResource(int code, absl::string_view reason, const ResourceType& type,
                       absl::string_view name) {
  ApiError error{.code = code, .reason = std::string(reason)};
  error.name = std::string(name);
  error.group = type.group;
  error.kind = type.plural;
  return error;
}

ApiError Plain(int code, absl::string_view reason, absl::string_view message) {
  return ApiError{.code = code, .reason = std::string(reason), .message = std::string(message)};
}

}  // namespace

Json ToJson(const ApiError& error) {
  Json status = StatusObject("Failure");
  if (!error.message.empty()) status.Set("message", error.message);
  if (!error.reason.empty()) status.Set("reason", error.reason);
  if (Json details = DetailsOf(error); details.size() > 0 || error.has_empty_details) {
    status.Set("details", std::move(details));
  }
  status.Set("code", error.code);
  return status;
}

Json SuccessStatus() { return StatusObject("Success"); }

ApiError NotFound(const ResourceType& type, absl::string_view name) {
  ApiError error = AboutResource(404, "NotFound", type, name);
  error.message = absl::StrCat(type.group_resource(), " \"", name, "\" not found");
  return error;
}

ApiError AlreadyExists(const ResourceType& type, absl::string_view name) {
  ApiError error = AboutResource(409, "AlreadyExists", type, name);
  error.message = absl::StrCat(type.group_resource(), " \"", name, "\" already exists");
  return error;
}

ApiError Conflict(const ResourceType& type, absl::string_view name, absl::string_view why) {
  ApiError error = AboutResource(409, "Conflict", type, name);
  error.message = absl::StrCat("Operation cannot be fulfilled on ", type.group_resource(), " \"",
                               name, "\": ", why);
  return error;
}

ApiError Forbidden(const ResourceType& type, absl::string_view name, absl::string_view why) {
  ApiError error = AboutResource(403, "Forbidden", type, name);
  const std::string quoted = name.empty() ? "" : absl::StrCat(" \"", name, "\"");
  error.message = absl::StrCat(type.group_resource(), quoted, " is forbidden: ", why);
  return error;
}

ApiError Invalid(const ResourceType& type, absl::string_view name,
                 std::vector<StatusCause> causes) {
  CHECK(!causes.empty());
  ApiError error = AboutResource(422, "Invalid", type, name);
  error.kind = type.kind;
  // A cause that stands twice is said once.
  std::vector<std::string> texts;
  for (const StatusCause& cause : causes) {
    std::string text =
        absl::StrCat(cause.field.empty() ? "<nil>" : cause.field, ": ", cause.message);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  const std::string joined =
      texts.size() == 1 ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  const std::string kind =
      type.group.empty() ? type.kind : absl::StrCat(type.kind, ".", type.group);
  error.message = absl::StrCat(kind, " \"", name, "\" is invalid: ", joined);
  error.causes = std::move(causes);
  return error;
}

ApiError BadRequest(absl::string_view message) { return Plain(400, "BadRequest", message); }

ApiError CannotBeHandled(absl::string_view version, absl::string_view kind, absl::string_view why) {
  return BadRequest(
      absl::StrCat(kind, " in version \"", version, "\" cannot be handled as a ", kind, ": ", why));
}

ApiError NoSuchPath() {
  ApiError error = Plain(404, "NotFound", "the server could not find the requested resource");
  error.has_empty_details = true;
  return error;
}

ApiError MethodNotAllowed() {
  ApiError error = Plain(405, "MethodNotAllowed",
                         "the server does not allow this method on the requested resource");
  error.has_empty_details = true;
  return error;
}

ApiError UnsupportedMediaType(absl::string_view message) {
  return Plain(415, "UnsupportedMediaType", message);
}

ApiError NotAcceptable(absl::string_view message) {
  ApiError error = Plain(406, "NotAcceptable", message);
  error.has_empty_details = true;
  return error;
}

ApiError Expired(absl::string_view message) { return Plain(410, "Expired", message); }

ApiError TooLargeResourceVersion(uint64_t wanted, uint64_t current) {
  ApiError error =
      Plain(504, "Timeout",
            absl::StrCat("Timeout: Too large resource version: ", wanted, ", current: ", current));
  error.causes.push_back(
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version"});
  error.retry_after_seconds = 1;
  return error;
}

ApiError TooManyRequests(absl::string_view message, int retry_after_seconds) {
  ApiError error = Plain(429, "TooManyRequests", message);
  error.retry_after_seconds = retry_after_seconds;
  error.has_empty_details = true;
  return error;
}

}  // namespace maniple::devcluster
