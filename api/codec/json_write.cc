// Json::Dump, Json::DumpPretty and JsonEscaped: the value as text.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/codec/text_scan.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

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
  return EndOfRun<RunEnds::kAtNonAscii>(at, end);
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
}  // namespace

std::string Json::Dump() const { return Written(*this, 0); }

std::string Json::DumpPretty() const { return Written(*this, 2); }
std::string JsonEscaped(absl::string_view text) {
  TextSink out(text.size());
  PutEscaped(text, out);
  return out.Take();
}

std::string JsonQuoted(absl::string_view text) {
  return absl::StrCat("\"", JsonEscaped(text), "\"");
}

}  // namespace maniple
