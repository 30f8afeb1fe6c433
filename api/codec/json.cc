#include "api/codec/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
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

// Whether a key stands twice; of a large object, where all pairs are too many, unknown and so true.
bool MayRepeat(const std::vector<Json::Member>& members) {
  if (members.size() > kSmallObject) return true;
  for (size_t i = 1; i < members.size(); ++i) {
    const std::string& key = members[i].first;
    for (size_t j = 0; j < i; ++j) {
      const std::string& other = members[j].first;
      // Most keys differ in these two; comparing all of both is a call.
      if (key.size() == other.size() && (key.empty() || key.back() == other.back()) &&
          key == other) {
        return true;
      }
    }
  }
  return false;
}

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

// Builds the value bottom up. What open containers hold so far stands on one stack, so a container
// is made at its end with exactly the room it needs.
class Builder final {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;

  // Only an escape can make half a character in a text that is valid UTF-8 as a whole.
  enum class Escapes { kNone, kSome };
  explicit Builder(Escapes escapes) : escapes_(escapes) {
    stack_.reserve(kLikelyOpen);
    open_.reserve(kLikelyOpen);
  }

  bool Null() { return Put(Json()); }
  bool Bool(bool value) { return Put(Json(value)); }
  // Numbers come raw: RapidJSON rounds some doubles wrongly and turns the largest ones into errors.
  bool RawNumber(const Ch* text, Size size, bool) {
    const char* const end = text + size;
    int64_t whole = 0;
    if (const auto read = std::from_chars(text, end, whole);
        read.ec == std::errc() && read.ptr == end) {
      return Put(Json(whole));
    }
    double value = 0;
    const auto read = absl::from_chars(text, end, value);
    // Too large comes as the largest there is, too small as the smallest or as zero.
    const bool too_large = read.ec == std::errc::result_out_of_range && std::abs(value) > 1;
    return too_large ? Refuse("a number out of range") : Put(Json(value));
  }
  bool String(const Ch* text, Size size, bool) {
    const absl::string_view string(text, size);
    return IsText(string) && Put(Json(string));
  }
  bool Key(const Ch* text, Size size, bool) {
    stack_.emplace_back(std::string(text, size), Json());
    return IsText(stack_.back().first);
  }
  bool StartArray() { return Open(Bracket::kArray); }
  bool StartObject() { return Open(Bracket::kObject); }
  bool EndArray(Size) { return Close(); }
  bool EndObject(Size) { return Close(); }

  // The numbers come raw, so RapidJSON never calls these.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  // Why the parse was stopped by this handler; "" when it was not.
  const std::string& refusal() const { return refusal_; }
  // REQUIRES: a whole value was read.
  Json Take() { return std::move(stack_.front().second); }

 private:
  enum class Bracket : uint8_t { kArray, kObject };
  struct Opened {
    Bracket bracket;
    size_t start;  // of its contents on the stack
  };

  bool Open(Bracket bracket) {
    if (open_.size() >= Json::kMaxDepth) {
      return Refuse(absl::StrCat("nested deeper than ", Json::kMaxDepth));
    }
    open_.push_back({bracket, stack_.size()});
    return true;
  }
  bool Close() {
    const Opened closed = open_.back();
    open_.pop_back();
    const auto begin = stack_.begin() + static_cast<ptrdiff_t>(closed.start);
    Json value;
    if (closed.bracket == Bracket::kArray) {
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
  bool Refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }
  bool IsText(absl::string_view text) {
    return escapes_ == Escapes::kNone || !HasEncodedSurrogate(text) ||
           Refuse("a lone surrogate in a string");
  }
  // In an object the key waits on the stack for its value.
  bool Put(Json&& value) {
    if (!open_.empty() && open_.back().bracket == Bracket::kObject) {
      stack_.back().second = std::move(value);
    } else {
      stack_.emplace_back(std::string(), std::move(value));
    }
    return true;
  }

  // Larger than most; what is more grows as usual.
  static constexpr size_t kLikelyOpen = 32;

  Escapes escapes_;
  std::vector<Json::Member> stack_;
  std::vector<Opened> open_;
  std::string refusal_;
};

// Writes text into a string in steps that need no check each.
class TextSink final {
 public:
  explicit TextSink(size_t likely) : text_(likely, '\0'), at_(text_.data()), end_(at_ + likely) {}

  void Put(char c) {
    if (at_ == end_) Grow(1);
    *at_++ = c;
  }
  void Put(absl::string_view part) {
    if (part.empty()) return;
    if (static_cast<size_t>(end_ - at_) < part.size()) Grow(part.size());
    std::memcpy(at_, part.data(), part.size());
    at_ += part.size();
  }
  // `text`, which stands as it is in JSON, between quotes.
  void PutQuoted(absl::string_view text) {
    if (static_cast<size_t>(end_ - at_) < text.size() + 2) Grow(text.size() + 2);
    *at_++ = '"';
    if (!text.empty()) std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    *at_++ = '"';
  }
  void PutSpaces(size_t count) {
    for (; count > 0; --count) Put(' ');
  }
  std::string Take() {
    text_.resize(static_cast<size_t>(at_ - text_.data()));
    return std::move(text_);
  }

 private:
  void Grow(size_t more) {
    const size_t used = static_cast<size_t>(at_ - text_.data());
    text_.resize(std::max(2 * text_.size(), used + more));
    at_ = text_.data() + used;
    end_ = text_.data() + text_.size();
  }

  std::string text_;
  char* at_;
  char* end_;
};

// The first byte at or after `at` that JSON writes in another way or that is no ASCII.
const char* EndOfVerbatim(const char* at, const char* end) {
  const auto verbatim = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  };
  while (at != end && verbatim(*at)) ++at;
  return at;
}

void PutEscaped(absl::string_view text, TextSink& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const char* const stop = EndOfVerbatim(at, end);
    out.Put(absl::string_view(at, static_cast<size_t>(stop - at)));
    if (stop == end) return;
    at = stop + 1;
    const auto c = static_cast<unsigned char>(*stop);
    if (c >= 0x80) {
      const size_t length = Utf8SequenceLength(text, static_cast<size_t>(stop - text.data()));
      out.Put(length == 0 ? absl::string_view("\xEF\xBF\xBD") : absl::string_view(stop, length));
      if (length != 0) at = stop + length;
    } else if (c == '"') {
      out.Put("\\\"");
    } else if (c == '\\') {
      out.Put("\\\\");
    } else if (c == '\n') {
      out.Put("\\n");
    } else if (c == '\t') {
      out.Put("\\t");
    } else if (c == '\r') {
      out.Put("\\r");
    } else {
      const char escape[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
      out.Put(absl::string_view(escape, sizeof escape));
    }
  }
}

void PutDouble(double value, TextSink& out) {
  if (!std::isfinite(value)) return out.Put("null");
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  const absl::string_view digits(buffer, static_cast<size_t>(end.ptr - buffer));
  out.Put(digits);
  // Keeps the value a decimal when it is read back.
  if (digits.find_first_of(".e") == absl::string_view::npos) out.Put(".0");
}

void PutInt(int64_t value, TextSink& out) {
  char buffer[24];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.Put(absl::string_view(buffer, static_cast<size_t>(end.ptr - buffer)));
}

class Writer final {
 public:
  Writer(TextSink& out, int indent) : out_(out), indent_(indent) {}

  void Write(const Json& value, int depth) {
    switch (value.type()) {
      case Json::Type::kNull:
        return out_.Put("null");
      case Json::Type::kBool:
        return out_.Put(value.AsBool() ? "true" : "false");
      case Json::Type::kInt:
        return PutInt(value.AsInt(), out_);
      case Json::Type::kDouble:
        return PutDouble(value.AsDouble(), out_);
      case Json::Type::kString:
        return WriteString(value.AsString());
      case Json::Type::kArray:
        return WriteArray(value.items(), depth);
      case Json::Type::kObject:
        return WriteObject(value.members(), depth);
    }
  }

 private:
  void WriteString(const std::string& text) {
    const char* const end = text.data() + text.size();
    if (EndOfVerbatim(text.data(), end) == end) return out_.PutQuoted(text);
    out_.Put('"');
    PutEscaped(text, out_);
    out_.Put('"');
  }
  void WriteArray(const std::vector<Json>& items, int depth) {
    out_.Put('[');
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.Put(',');
      NewLine(depth + 1);
      Write(items[i], depth + 1);
    }
    if (!items.empty()) NewLine(depth);
    out_.Put(']');
  }
  void WriteObject(const std::vector<Json::Member>& members, int depth) {
    out_.Put('{');
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_.Put(',');
      NewLine(depth + 1);
      WriteString(members[i].first);
      out_.Put(indent_ > 0 ? ": " : ":");
      Write(members[i].second, depth + 1);
    }
    if (!members.empty()) NewLine(depth);
    out_.Put('}');
  }
  void NewLine(int depth) {
    if (indent_ == 0) return;
    out_.Put('\n');
    out_.PutSpaces(static_cast<size_t>(depth) * static_cast<size_t>(indent_));
  }

  TextSink& out_;
  const int indent_;
};

// What a scalar or a small object takes; anything larger grows by doubling.
constexpr size_t kScalarText = 32;
constexpr size_t kObjectText = 512;

std::string Written(const Json& value, int indent) {
  TextSink out(value.size() == 0 ? kScalarText : kObjectText);
  Writer(out, indent).Write(value, 0);
  return out.Take();
}

const Json& NullJson() {
  static const Json null;
  return null;
}

bool SameMembers(const std::vector<Json::Member>& a, const std::vector<Json::Member>& b) {
  if (a.size() != b.size()) return false;
  // Mostly both come from one source and have one order.
  const auto same_key = [](const Json::Member& x, const Json::Member& y) {
    return x.first == y.first;
  };
  if (std::equal(a.begin(), a.end(), b.begin(), same_key)) return a == b;
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
  new (&out.items_) Items(std::move(items));
  out.type_ = Type::kArray;
  return out;
}

Json Json::Object(std::vector<Member> members) {
  if (MayRepeat(members)) KeepLastOfEqualKeys(members);
  Json out;
  new (&out.members_) Members(std::move(members));
  out.type_ = Type::kObject;
  return out;
}

absl::StatusOr<Json> Json::Parse(absl::string_view text) {
  // Before anything else: fast, and the strings need no second look.
  if (const size_t at = FindInvalidUtf8(text); at != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", at, ": invalid UTF-8"));
  }
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(text.data() == nullptr ? "" : text.data(), text.size());
  rapidjson::Reader reader;
  const bool plain = text.find('\\') == absl::string_view::npos;
  Builder builder(plain ? Builder::Escapes::kNone : Builder::Escapes::kSome);
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

std::string Json::Dump() const { return Written(*this, 0); }

std::string Json::DumpPretty() const { return Written(*this, 2); }

void Json::CopyFrom(const Json& other) {
  switch (type_) {
    case Type::kNull:
      return;
    case Type::kBool:
      bool_ = other.bool_;
      return;
    case Type::kInt:
      int_ = other.int_;
      return;
    case Type::kDouble:
      double_ = other.double_;
      return;
    case Type::kString:
      new (&string_) std::string(other.string_);
      return;
    case Type::kArray:
      new (&items_) Items(other.items_);
      return;
    case Type::kObject:
      new (&members_) Members(other.members_);
      return;
  }
}

void Json::Destroy() {
  if (type_ == Type::kString) {
    string_.~basic_string();
  } else if (type_ == Type::kArray) {
    items_.~Items();
  } else {
    members_.~Members();
  }
}

bool Json::AsBool() const { return is_bool() && bool_; }

int64_t Json::AsInt() const { return is_int() ? int_ : 0; }

double Json::AsDouble() const {
  return type_ == Type::kDouble ? double_ : static_cast<double>(AsInt());
}

const std::string& Json::AsString() const {
  static const std::string empty;
  return is_string() ? string_ : empty;
}

const std::vector<Json>& Json::items() const {
  static const std::vector<Json> empty;
  return is_array() ? items_.Get() : empty;
}

const std::vector<Json::Member>& Json::members() const {
  static const std::vector<Member> empty;
  return is_object() ? members_.Get() : empty;
}

size_t Json::size() const { return is_array() ? items().size() : members().size(); }

const Json* Json::Find(absl::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json* Json::Find(absl::string_view key) {
  // Looked for first: what is absent is no reason to take a copy apart.
  if (!Has(key)) return nullptr;
  return &Mutable(key);
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
  if (is_null()) *this = Object();
  std::vector<Member>& members = mutable_members();
  for (Member& member : members) {
    if (member.first == key) return member.second;
  }
  return members.emplace_back(std::string(key), Json()).second;
}

bool Json::Erase(absl::string_view key) {
  if (!Has(key)) return false;
  std::erase_if(mutable_members(), [key](const Member& member) { return member.first == key; });
  return true;
}

void Json::Append(Json value) {
  if (is_null()) *this = Array();
  mutable_items().push_back(std::move(value));
}

std::vector<Json>& Json::mutable_items() {
  CHECK(is_array());
  return items_.Mutable();
}

std::vector<Json::Member>& Json::mutable_members() {
  CHECK(is_object());
  return members_.Mutable();
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
      return a.items_.Shares(b.items_) || a.items() == b.items();
    case Json::Type::kObject:
      return a.members_.Shares(b.members_) || SameMembers(a.members(), b.members());
  }
  return false;
}

std::string JsonEscaped(absl::string_view text) {
  TextSink out(text.size());
  PutEscaped(text, out);
  return out.Take();
}

}  // namespace maniple
