// Bytes of the API server into model values: whole lists and single watch lines.
//
// One pass of RapidJSON's iterative SAX reader into a flat tape that is reused, then a walk over
// the tape that skips what we do not use. A bad object (wrong type, absurd quantity) never fails
// its list or stream: it comes out as ObjectInvalid naming the object, the path and the reason.
// Annotations are kept only under scheduling.maniple.dev/ and the few foreign keys we read. Kinds
// of producers need a ForeignReader; an item of a list of a built-in kind names no version, and its
// ForeignObject::api_version is then "". One Decoder per thread; not shared.
//
//   Decoder decoder;
//   ASSIGN_OR_RETURN(ListHead head, decoder.List(ResourceKind::kPod, body, [&](DecodedObject o)
//   {…}));
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/foreign_reader.h"
#include "api/model/object.h"

namespace maniple {

// An item of a list, or the object of an ADDED, MODIFIED or DELETED line.
struct DecodedObject {
  std::variant<Object, ObjectInvalid> what;
  ObjectKey key;
  std::string uid;
  std::string resource_version;
};

struct ListHead {
  std::string resource_version;
  std::string continue_token;  // "" = last page
};

enum class WatchVerb { kAdded, kModified, kDeleted };
struct WatchChange {
  WatchVerb verb = WatchVerb::kAdded;
  DecodedObject object;
};
struct WatchBookmark {
  std::string resource_version;
};
// An ERROR line: the Status it carries.
struct WatchFailure {
  int code = 0;
  std::string reason, message;
};
// A type or kind we do not know; the stream goes on.
struct WatchIgnored {
  std::string what;
};
using WatchMessage = std::variant<WatchChange, WatchBookmark, WatchFailure, WatchIgnored>;

// A Kubernetes Status, or the best that can be said of a reply that carries none (HTML, text,
// nothing).
struct ApiStatus {
  int code = 0;
  std::string reason;   // "Conflict", "NotFound", …; "" when the body was no Status
  std::string message;  // at most 1 KiB, printable
  std::string cause;    // reason of the first cause, e.g. "DisruptionBudget"
  std::optional<absl::Duration> retry_after;
};

// REQUIRES, of every function with a kind: a reader, if the kind is a producer's.
class Decoder final {
 public:
  explicit Decoder(const ForeignReader* foreign = nullptr);  // borrowed; nullptr: no such kinds
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Calls `item` for each object in order. InvalidArgument when the body as a whole is no list of
  // this kind; items that came before the broken byte have been delivered already.
  absl::StatusOr<ListHead> List(ResourceKind kind, absl::string_view body,
                                absl::FunctionRef<void(DecodedObject)> item);
  // One line of a watch. InvalidArgument when it is no JSON or no event: then the stream cannot be
  // trusted any more.
  absl::StatusOr<WatchMessage> WatchLine(ResourceKind kind, absl::string_view line);
  // One object, e.g. the reply to a GET or PUT.
  absl::StatusOr<DecodedObject> Single(ResourceKind kind, absl::string_view body);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Never fails: a body that is no Status yields the HTTP code and its first printable characters.
[[nodiscard]] ApiStatus DecodeStatus(int http_code, absl::string_view body);

}  // namespace maniple
