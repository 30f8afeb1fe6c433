#include "api/codec/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/check.h"
#include "api/codec/utf8.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"

namespace maniple {
namespace {

// Objects up to this size are searched linearly; larger ones are sorted where all pairs would be
// compared.
constexpr size_t kSmallObject = 16;

// Removes the earlier of members with equal keys, keeping the order of the rest.
void KeepLastOfEqualKeys(std::vector<Json::Member>& members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return members[a].first < members[b].first; });
  std::vector<char> replaced(members.size(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    if (members[order[i - 1]].first == members[order[i]].first) replaced[order[i - 1]] = 1;
  }
  size_t out = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (replaced[i]) continue;
    if (out != i) members[out] = std::move(members[i]);
    ++out;
  }
  members.resize(out);
}

// The SAX handler that builds the value bottom up. What open containers hold so far stands on one
// stack, so a container is made at its end with exactly the room it needs.
class Builder final {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;

  bool Null() { return Put(Json()); }
  bool Bool(bool value) { return Put(Json(value)); }
  // Numbers come raw: RapidJSON rounds some doubles wrongly and turns the largest ones into
  // infinity.
  bool RawNumber(const Ch* text, Size size, bool) {
    const char* const end = text + size;
    int64_t whole = 0;
    if (const auto read = std::from_chars(text, end, whole);
        read.ec == std::errc() && read.ptr == end) {
      return Put(Json(whole));
    }
    double value = 0;
    absl::from_chars(text, end, value);
    return std::isfinite(value) ? Put(Json(value)) : Refuse("a number out of range");
  }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const Ch* text, Size size, bool) {
    return IsText(absl::string_view(text, size)) && Put(Json(std::string(text, size)));
  }
  bool Key(const Ch* text, Size size, bool) {
    stack_.emplace_back(std::string(text, size), Json());
    return IsText(stack_.back().first);
  }
  bool StartObject() { return Start(Json::Type::kObject); }
  bool StartArray() { return Start(Json::Type::kArray); }
  bool EndObject(Size) { return Close(); }
  bool EndArray(Size) { return Close(); }

  // Why the parse was stopped by this handler; "" when it was not.
  const std::string& refusal() const { return refusal_; }
  // REQUIRES: a whole value was read.
  Json Take() { return std::move(stack_.front().second); }

 private:
  struct Open {
    Json::Type type;
    size_t start;  // of its contents on the stack
  };

  bool Refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }
  bool IsText(absl::string_view text) {
    return !HasEncodedSurrogate(text) || Refuse("a lone surrogate in a string");
  }
  bool Start(Json::Type type) {
    if (open_.size() >= Json::kMaxDepth) {
      return Refuse(absl::StrCat("nested deeper than ", Json::kMaxDepth));
    }
    open_.push_back({type, stack_.size()});
    return true;
  }
  bool Close() {
    const Open closed = open_.back();
    open_.pop_back();
    const auto begin = stack_.begin() + static_cast<ptrdiff_t>(closed.start);
    Json value;
    if (closed.type == Json::Type::kArray) {
      std::vector<Json> items;
      items.reserve(stack_.size() - closed.start);
      for (auto at = begin; at != stack_.end(); ++at) items.push_back(std::move(at->second));
      value = Json::Array(std::move(items));
    } else {
      value = Json::Object(std::vector<Json::Member>(std::make_move_iterator(begin),
                                                     std::make_move_iterator(stack_.end())));
    }
    stack_.erase(begin, stack_.end());
    return Put(std::move(value));
  }
  // In an object the key waits on the stack for its value.
  bool Put(Json value) {
    if (!open_.empty() && open_.back().type == Json::Type::kObject) {
      stack_.back().second = std::move(value);
    } else {
      stack_.emplace_back(std::string(), std::move(value));
    }
    return true;
  }

  std::vector<Json::Member> stack_;
  std::vector<Open> open_;
  std::string refusal_;
};

void AppendEscaped(absl::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  size_t plain = 0;  // start of the run not yet copied
  size_t at = 0;
  const auto replace = [&](absl::string_view with) {
    out.append(text.data() + plain, at - plain);
    out.append(with.data(), with.size());
    plain = ++at;
  };
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x80) {
      const size_t length = Utf8SequenceLength(text, at);
      if (length == 0) {
        replace("\xEF\xBF\xBD");
      } else {
        at += length;
      }
    } else if (c == '"') {
      replace("\\\"");
    } else if (c == '\\') {
      replace("\\\\");
    } else if (c >= 0x20) {
      ++at;
    } else if (c == '\n') {
      replace("\\n");
    } else if (c == '\t') {
      replace("\\t");
    } else if (c == '\r') {
      replace("\\r");
    } else {
      const char escape[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
      replace(absl::string_view(escape, sizeof escape));
    }
  }
  out.append(text.data() + plain, text.size() - plain);
}

void AppendDouble(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  const absl::string_view digits(buffer, static_cast<size_t>(end.ptr - buffer));
  out.append(digits.data(), digits.size());
  // Keeps the value a decimal when it is read back.
  if (digits.find_first_of(".e") == absl::string_view::npos) out += ".0";
}

class Writer final {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

  void Write(const Json& value, int depth) {
    switch (value.type()) {
      case Json::Type::kNull:
        out_ += "null";
        return;
      case Json::Type::kBool:
        out_ += value.AsBool() ? "true" : "false";
        return;
      case Json::Type::kInt:
        absl::StrAppend(&out_, value.AsInt());
        return;
      case Json::Type::kDouble:
        AppendDouble(value.AsDouble(), out_);
        return;
      case Json::Type::kString:
        WriteString(value.AsString());
        return;
      case Json::Type::kArray:
        WriteArray(value.items(), depth);
        return;
      case Json::Type::kObject:
        WriteObject(value.members(), depth);
        return;
    }
  }

 private:
  void WriteString(const std::string& text) {
    out_ += '"';
    AppendEscaped(text, out_);
    out_ += '"';
  }
  void WriteArray(const std::vector<Json>& items, int depth) {
    out_ += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ',';
      NewLine(depth + 1);
      Write(items[i], depth + 1);
    }
    if (!items.empty()) NewLine(depth);
    out_ += ']';
  }
  void WriteObject(const std::vector<Json::Member>& members, int depth) {
    out_ += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_ += ',';
      NewLine(depth + 1);
      WriteString(members[i].first);
      out_ += indent_ > 0 ? ": " : ":";
      Write(members[i].second, depth + 1);
    }
    if (!members.empty()) NewLine(depth);
    out_ += '}';
  }
  void NewLine(int depth) {
    if (indent_ == 0) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(depth) * static_cast<size_t>(indent_), ' ');
  }

  std::string& out_;
  const int indent_;
};

const Json& NullJson() {
  static const Json null;
  return null;
}

bool SameMembers(const std::vector<Json::Member>& a, const std::vector<Json::Member>& b) {
  if (a.size() != b.size()) return false;
  const auto sorted = [](const std::vector<Json::Member>& members) {
    std::vector<const Json::Member*> out;
    out.reserve(members.size());
    for (const Json::Member& member : members) out.push_back(&member);
    std::sort(out.begin(), out.end(),
              [](const Json::Member* x, const Json::Member* y) { return x->first < y->first; });
    return out;
  };
  const auto equal = [](const Json::Member* x, const Json::Member* y) {
    return x->first == y->first && x->second == y->second;
  };
  const std::vector<const Json::Member*> left = sorted(a);
  const std::vector<const Json::Member*> right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(), equal);
}

}  // namespace

Json Json::Array(std::vector<Json> items) {
  Json out;
  out.value_ = std::move(items);
  return out;
}

Json Json::Object(std::vector<Member> members) {
  const auto repeats = [&members] {
    if (members.size() > kSmallObject) return true;  // let the sort find out
    for (size_t i = 1; i < members.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (members[i].first == members[j].first) return true;
      }
    }
    return false;
  };
  if (repeats()) KeepLastOfEqualKeys(members);
  Json out;
  out.value_ = std::move(members);
  return out;
}

absl::StatusOr<Json> Json::Parse(absl::string_view text) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  // Faster than RapidJSON's own check of the encoding.
  if (const size_t at = FindInvalidUtf8(text); at != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", at, ": invalid UTF-8"));
  }
  rapidjson::MemoryStream stream(text.data() == nullptr ? "" : text.data(), text.size());
  rapidjson::Reader reader;
  Builder builder;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!builder.refusal().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", stream.Tell(), ": ", builder.refusal()));
  }
  if (result.IsError()) {
    return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", result.Offset(), ": ",
                                                   rapidjson::GetParseError_En(result.Code())));
  }
  // RapidJSON takes a NUL byte after the value for the end of the text.
  if (stream.Tell() != text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", stream.Tell(), ": NUL after the document"));
  }
  return builder.Take();
}

std::string Json::Dump() const {
  std::string out;
  Writer(out, 0).Write(*this, 0);
  return out;
}

std::string Json::DumpPretty() const {
  std::string out;
  Writer(out, 2).Write(*this, 0);
  return out;
}

Json::Type Json::type() const { return static_cast<Type>(value_.index()); }

bool Json::AsBool() const {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr && *value;
}

int64_t Json::AsInt() const {
  const int64_t* value = std::get_if<int64_t>(&value_);
  return value != nullptr ? *value : 0;
}

double Json::AsDouble() const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  return static_cast<double>(AsInt());
}

const std::string& Json::AsString() const {
  static const std::string empty;
  const std::string* value = std::get_if<std::string>(&value_);
  return value != nullptr ? *value : empty;
}

const std::vector<Json>& Json::items() const {
  static const std::vector<Json> empty;
  const auto* value = std::get_if<std::vector<Json>>(&value_);
  return value != nullptr ? *value : empty;
}

const std::vector<Json::Member>& Json::members() const {
  static const std::vector<Member> empty;
  const auto* value = std::get_if<std::vector<Member>>(&value_);
  return value != nullptr ? *value : empty;
}

size_t Json::size() const { return is_array() ? items().size() : members().size(); }

const Json* Json::Find(absl::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json* Json::Find(absl::string_view key) {
  return const_cast<Json*>(static_cast<const Json*>(this)->Find(key));
}

const Json& Json::operator[](absl::string_view key) const {
  const Json* found = Find(key);
  return found != nullptr ? *found : NullJson();
}

const Json& Json::At(absl::string_view dotted_path) const {
  const Json* at = this;
  for (const absl::string_view key : absl::StrSplit(dotted_path, '.')) at = &(*at)[key];
  return *at;
}

Json& Json::Set(absl::string_view key, Json value) {
  // A null that comes in stays a null member; Mutable makes room for it first.
  Json& slot = Mutable(key);
  slot = std::move(value);
  return slot;
}

Json& Json::Mutable(absl::string_view key) {
  if (is_null()) value_ = std::vector<Member>();
  std::vector<Member>& members = mutable_members();
  for (Member& member : members) {
    if (member.first == key) return member.second;
  }
  return members.emplace_back(std::string(key), Json()).second;
}

bool Json::Erase(absl::string_view key) {
  auto* members = std::get_if<std::vector<Member>>(&value_);
  if (members == nullptr) return false;
  return std::erase_if(*members, [key](const Member& member) { return member.first == key; }) > 0;
}

void Json::Append(Json value) {
  if (is_null()) value_ = std::vector<Json>();
  mutable_items().push_back(std::move(value));
}

std::vector<Json>& Json::mutable_items() {
  CHECK(is_array());
  return std::get<std::vector<Json>>(value_);
}

std::vector<Json::Member>& Json::mutable_members() {
  CHECK(is_object());
  return std::get<std::vector<Member>>(value_);
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.AsInt() == b.AsInt() : a.AsDouble() == b.AsDouble();
  }
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Json::Type::kNull:
      return true;
    case Json::Type::kBool:
      return a.AsBool() == b.AsBool();
    case Json::Type::kInt:
    case Json::Type::kDouble:
      return false;  // compared above
    case Json::Type::kString:
      return a.AsString() == b.AsString();
    case Json::Type::kArray:
      return a.items() == b.items();
    case Json::Type::kObject:
      return SameMembers(a.members(), b.members());
  }
  return false;
}

std::string JsonEscaped(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  AppendEscaped(text, out);
  return out;
}

}  // namespace maniple
