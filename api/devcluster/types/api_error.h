// What went wrong with a request, as kube-apiserver says it: the Status object of the reply.
//
// A value; every function that can refuse a request answers ApiOr<T>. One named constructor per
// reason, so texts and codes stand in api_error.cc only.
//
//   if (object == nullptr) return NotFound(type, name);
//   reply = ErrorReply(error);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/check.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct ResourceType;

struct StatusCause {
  std::string reason = {};  // "FieldValueInvalid"
  std::string message = {};
  std::string field = {};  // "spec.containers[0].name"
};

struct ApiError {
  int code = 500;
  std::string reason = {};  // "NotFound"; empty: unknown
  std::string message = {};
  // Of details; what is empty is left out.
  std::string name = {}, group = {}, kind = {}, uid = {};
  std::vector<StatusCause> causes = {};
  int retry_after_seconds = 0;
  bool has_empty_details = false;  // "details": {} is written though nothing is in it
};

// The Status object.
[[nodiscard]] Json ToJson(const ApiError& error);
// A Status object with status Success, as DELETE and binding answer.
[[nodiscard]] Json SuccessStatus();

template <typename T>
class [[nodiscard]] ApiOr final {
 public:
  ApiOr(T value) : value_(std::move(value)) {}         // NOLINT: answers read as values
  ApiOr(ApiError error) : value_(std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return value_.index() == 0; }
  // REQUIRES: ok().
  T& operator*() & { return Value(); }
  const T& operator*() const& { return const_cast<ApiOr*>(this)->Value(); }
  T&& operator*() && { return std::move(Value()); }
  T* operator->() { return &Value(); }
  const T* operator->() const { return &const_cast<ApiOr*>(this)->Value(); }
  // REQUIRES: !ok().
  [[nodiscard]] const ApiError& error() const {
    CHECK(!ok());
    return std::get<1>(value_);
  }

 private:
  T& Value() {
    CHECK(ok());
    return std::get<0>(value_);
  }
  std::variant<T, ApiError> value_;
};

// Nothing, or what stands against it.
using MaybeError = std::optional<ApiError>;

[[nodiscard]] ApiError NotFound(const ResourceType& type, absl::string_view name);
[[nodiscard]] ApiError AlreadyExists(const ResourceType& type, absl::string_view name);
[[nodiscard]] ApiError Conflict(const ResourceType& type, absl::string_view name,
                                absl::string_view why);
[[nodiscard]] ApiError Forbidden(const ResourceType& type, absl::string_view name,
                                 absl::string_view why);
// "Pod \"x\" is invalid: field: message", one cause per problem. REQUIRES: causes not empty.
[[nodiscard]] ApiError Invalid(const ResourceType& type, absl::string_view name,
                               std::vector<StatusCause> causes);
[[nodiscard]] ApiError BadRequest(absl::string_view message);
// 400: what was sent does not decode into the kind.
[[nodiscard]] ApiError CannotBeHandled(absl::string_view version, absl::string_view kind,
                                       absl::string_view why);
// 404 without an object: no such path.
[[nodiscard]] ApiError NoSuchPath();
[[nodiscard]] ApiError MethodNotAllowed();
[[nodiscard]] ApiError UnsupportedMediaType(absl::string_view message);
[[nodiscard]] ApiError NotAcceptable(absl::string_view message);
[[nodiscard]] ApiError Expired(absl::string_view message);
[[nodiscard]] ApiError TooManyRequests(absl::string_view message, int retry_after_seconds);
[[nodiscard]] ApiError TooLargeResourceVersion(uint64_t wanted, uint64_t current);

}  // namespace maniple::devcluster

#define API_RETURN_IF_ERROR(expr)                                                           \
  do {                                                                                      \
    if (::maniple::devcluster::MaybeError api_error = (expr)) return *std::move(api_error); \
  } while (false)

#define API_ASSIGN_OR_RETURN(lhs, expr) \
  API_ASSIGN_OR_RETURN_INNER(API_CONCAT(api_or_, __LINE__), lhs, expr)
#define API_ASSIGN_OR_RETURN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return tmp.error();               \
  lhs = *std::move(tmp)
#define API_CONCAT_INNER(a, b) a##b
#define API_CONCAT(a, b) API_CONCAT_INNER(a, b)
