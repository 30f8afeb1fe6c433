#include "api/codec/decode.h"

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/base/status_macros.h"
#include "api/codec/cursor.h"
#include "api/codec/decode_parts.h"
#include "api/codec/tape.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

constexpr size_t kMostTextShown = 200;

std::string Shown(absl::string_view text) { return Printable(Utf8Prefix(text, kMostTextShown)); }

// The text member of an object; "" when it has none.
absl::string_view MemberText(const Cursor& object, absl::string_view key) {
  absl::string_view text;
  for (const Cursor& member : object.Members()) {
    if (member.key() == key) text = member.View();
  }
  return text;
}

// Whether an object that names its kind is of another than `kind`; items of built-in lists name
// none.
bool IsOtherKind(const Cursor& object, absl::string_view kind) {
  const absl::string_view named = MemberText(object, "kind");
  return !named.empty() && named != kind;
}

WatchBookmark ReadBookmark(const Cursor& object) {
  WatchBookmark out;
  for (const Cursor& field : object.Members()) {
    if (field.key() != "metadata") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "resourceVersion") out.resource_version = part.Text();
    }
  }
  return out;
}

WatchFailure ReadFailure(const Cursor& status) {
  constexpr int kUnknownFailure = 500;
  WatchFailure out{.code = kUnknownFailure, .reason = "", .message = ""};
  for (const Cursor& field : status.Members()) {
    if (field.key() == "code") out.code = field.Int32();
    if (field.key() == "reason") out.reason = field.Text();
    if (field.key() == "message") out.message = Shown(field.View());
  }
  return out;
}

}  // namespace

class Decoder::Impl final {
 public:
  explicit Impl(const ForeignReader* foreign) : foreign_(foreign) {}

  absl::StatusOr<ListHead> List(ResourceKind kind, absl::string_view body,
                                absl::FunctionRef<void(DecodedObject)> item) {
    const auto on_item = [&](const Tape& tape) { item(DecodeItem(kind, tape.root())); };
    RETURN_IF_ERROR(reader_.ReadList(
        body, {.head = head_, .item = item_, .passing = PassingFor(kind)}, on_item));
    Problem problem;
    const Cursor root(head_.root(), problem);
    ListHead head;
    absl::string_view named;
    bool has_metadata = false;
    for (const Cursor& field : root.Members()) {
      if (field.key() == "kind") named = field.View();
      if (field.key() == "items") field.Refuse("must be a list");  // a list would show as null
      if (field.key() == "metadata") {
        has_metadata = true;
        head.resource_version = std::string(MemberText(field, "resourceVersion"));
        head.continue_token = std::string(MemberText(field, "continue"));
      }
    }
    const std::string wanted = absl::StrCat(KindName(kind), "List");
    if (named != wanted) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a ", wanted, ", got ", KindShown(named)));
    }
    if (!has_metadata) root.Refuse("metadata: is missing");
    if (problem.found()) {
      return absl::InvalidArgumentError(absl::StrCat(wanted, ": ", problem.text()));
    }
    return head;
  }

  absl::StatusOr<WatchMessage> WatchLine(ResourceKind kind, absl::string_view line) {
    RETURN_IF_ERROR(reader_.Read(line, item_, PassingFor(kind)));
    Problem problem;
    const Cursor root(item_.root(), problem);
    absl::string_view type;
    const Token* object = nullptr;
    for (const Cursor& field : root.Members()) {
      if (field.key() == "type") type = field.View();
      if (field.key() == "object") object = &field.token();
    }
    if (type.empty() || object == nullptr || object->type != TokenType::kObject) {
      return absl::InvalidArgumentError("not a watch event: no type or no object");
    }
    return Event(kind, type, *object);
  }

  absl::StatusOr<DecodedObject> Single(ResourceKind kind, absl::string_view body) {
    ASSIGN_OR_RETURN(const Token* root, ReadOne(KindName(kind), body, PassingFor(kind)));
    return DecodeItem(kind, *root);
  }

 private:
  [[nodiscard]] absl::string_view KindName(ResourceKind kind) const {
    if (!IsForeign(kind)) return ResourceKindName(kind);
    CHECK(foreign_ != nullptr);
    return foreign_->KindName(kind);
  }

  [[nodiscard]] TapeReader::Passing PassingFor(ResourceKind kind) const {
    const bool names = IsForeign(kind) && foreign_ != nullptr && foreign_->HasNamesOfUsers(kind);
    return names ? TapeReader::Passing::kManagedFields : TapeReader::Passing::kUnread;
  }

  [[nodiscard]] DecodedObject DecodeItem(ResourceKind kind, const Token& token) const {
    Problem problem;
    const Cursor root(token, problem);
    if (root.is_null()) root.Refuse("must be an object");
    if (IsOtherKind(root, KindName(kind))) {
      root.Refuse(absl::StrCat("kind: must be ", KindName(kind)));
    }
    Object object = ReadObject(kind, root, foreign_);
    const ObjectMeta& meta = MetaOf(object);
    DecodedObject out{.what = ObjectInvalid{},
                      .key = {kind, meta.namespace_name, meta.name},
                      .uid = meta.uid,
                      .resource_version = meta.resource_version};
    if (problem.found()) {
      out.what = ObjectInvalid{out.key, out.uid, problem.text()};
    } else {
      out.what = std::move(object);
    }
    return out;
  }

  static std::string KindShown(absl::string_view kind) {
    return kind.empty() ? "an object without kind" : absl::StrCat("a ", Shown(kind));
  }

  absl::StatusOr<const Token*> ReadOne(absl::string_view kind, absl::string_view body,
                                       TapeReader::Passing passing) {
    RETURN_IF_ERROR(reader_.Read(body, item_, passing));
    Problem problem;
    const Cursor root(item_.root(), problem);
    if (root.type() != TokenType::kObject || IsOtherKind(root, kind)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a ", kind, ", got ", KindShown(MemberText(root, "kind"))));
    }
    return &item_.root();
  }

  [[nodiscard]] absl::StatusOr<WatchMessage> Event(ResourceKind kind, absl::string_view type,
                                                   const Token& object) const {
    Problem problem;
    const Cursor cursor(object, problem);
    if (type == "ERROR") return ReadFailure(cursor);
    if (type == "BOOKMARK") return ReadBookmark(cursor);
    if (IsOtherKind(cursor, KindName(kind))) {
      return WatchIgnored{absl::StrCat("kind ", Shown(MemberText(cursor, "kind")))};
    }
    const auto change = [&](WatchVerb verb) { return WatchChange{verb, DecodeItem(kind, object)}; };
    if (type == "ADDED") return change(WatchVerb::kAdded);
    if (type == "MODIFIED") return change(WatchVerb::kModified);
    if (type == "DELETED") return change(WatchVerb::kDeleted);
    return WatchIgnored{absl::StrCat("type ", Shown(type))};
  }

  const ForeignReader* const foreign_;  // borrowed; nullptr: kinds of producers are not read
  TapeReader reader_;
  Tape head_;
  Tape item_;
};

Decoder::Decoder(const ForeignReader* foreign) : impl_(std::make_unique<Impl>(foreign)) {}
Decoder::~Decoder() = default;

absl::StatusOr<ListHead> Decoder::List(ResourceKind kind, absl::string_view body,
                                       absl::FunctionRef<void(DecodedObject)> item) {
  return impl_->List(kind, body, item);
}
absl::StatusOr<WatchMessage> Decoder::WatchLine(ResourceKind kind, absl::string_view line) {
  return impl_->WatchLine(kind, line);
}
absl::StatusOr<DecodedObject> Decoder::Single(ResourceKind kind, absl::string_view body) {
  return impl_->Single(kind, body);
}

}  // namespace maniple
