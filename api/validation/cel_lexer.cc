#include "api/validation/cel_lexer.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

constexpr size_t kMaxSource = 32 * 1024;

bool StartsName(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool ContinuesName(char c) { return absl::ascii_isalnum(c) || c == '_'; }

int HexValue(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  if (absl::ascii_isxdigit(c)) return absl::ascii_tolower(c) - 'a' + 10;
  return -1;
}

// False when the code point is a surrogate or beyond Unicode.
bool AppendUtf8(uint32_t point, std::string& out) {
  if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | point >> 6));
    out.push_back(static_cast<char>(0x80 | (point & 0x3F)));
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | point >> 12));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | point >> 18));
    out.push_back(static_cast<char>(0x80 | (point >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3F)));
  }
  return true;
}

std::optional<char> SimpleEscape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
    case '`':
    case '?':
      return c;
    default:
      return std::nullopt;
  }
}

class Lexer {
 public:
  explicit Lexer(absl::string_view source) : source_(source) {}

  absl::StatusOr<std::vector<CelToken>> Run() {
    while (true) {
      SkipSpace();
      if (at_ == source_.size()) break;
      RETURN_IF_ERROR(Next());
    }
    Emit(CelToken::Kind::kEnd, at_, "");
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  absl::Status Error(size_t offset, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("at byte ", offset, ": ", what));
  }

  void Emit(CelToken::Kind kind, size_t offset, std::string text) {
    tokens_.push_back({.kind = kind, .text = std::move(text), .offset = offset});
  }

  void SkipSpace() {
    while (at_ < source_.size()) {
      if (absl::ascii_isspace(source_[at_])) {
        ++at_;
      } else if (Peek() == '/' && Peek(1) == '/') {
        while (at_ < source_.size() && source_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  absl::Status Next() {
    const char c = Peek();
    if (c == '"' || c == '\'') return Text(Escapes::kRead);
    const bool quoted = Peek(1) == '"' || Peek(1) == '\'';
    if ((c == 'r' || c == 'R') && quoted) {
      ++at_;
      return Text(Escapes::kRaw);
    }
    if ((c == 'b' || c == 'B') && quoted) return absl::UnimplementedError("bytes literals");
    if (StartsName(c)) return Name();
    if (absl::ascii_isdigit(c) || (c == '.' && absl::ascii_isdigit(Peek(1)))) return Number();
    return Operator();
  }

  absl::Status Name() {
    const size_t start = at_;
    while (ContinuesName(Peek())) ++at_;
    Emit(CelToken::Kind::kIdentifier, start, std::string(source_.substr(start, at_ - start)));
    return absl::OkStatus();
  }

  absl::Status Number() {
    const size_t start = at_;
    CelToken::Kind kind = CelToken::Kind::kInt;
    if (Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X')) {
      at_ += 2;
      while (absl::ascii_isxdigit(Peek())) ++at_;
    } else {
      while (absl::ascii_isdigit(Peek())) ++at_;
      if (Peek() == '.' && absl::ascii_isdigit(Peek(1))) {
        kind = CelToken::Kind::kDouble;
        ++at_;
        while (absl::ascii_isdigit(Peek())) ++at_;
      }
      const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if ((Peek() == 'e' || Peek() == 'E') && absl::ascii_isdigit(Peek(1 + sign))) {
        kind = CelToken::Kind::kDouble;
        at_ += 1 + sign;
        while (absl::ascii_isdigit(Peek())) ++at_;
      }
    }
    if (Peek() == 'u' || Peek() == 'U') return absl::UnimplementedError("unsigned literals");
    if (ContinuesName(Peek())) return Error(at_, "a number runs into a name");
    Emit(kind, start, std::string(source_.substr(start, at_ - start)));
    return absl::OkStatus();
  }

  enum class Escapes { kRead, kRaw };

  absl::Status Text(Escapes escapes) {
    const size_t start = at_;
    const char quote = Peek();
    const bool triple = Peek(1) == quote && Peek(2) == quote;
    const std::string end(triple ? 3 : 1, quote);
    at_ += end.size();
    std::string text;
    while (true) {
      if (at_ >= source_.size()) return Error(start, "the string does not end");
      if (absl::StartsWith(source_.substr(at_), end)) break;
      if (!triple && source_[at_] == '\n')
        return Error(start, "the string does not end in its line");
      if (source_[at_] == '\\' && escapes == Escapes::kRead) {
        RETURN_IF_ERROR(Escape(text));
      } else {
        text.push_back(source_[at_++]);
      }
    }
    at_ += end.size();
    Emit(CelToken::Kind::kText, start, std::move(text));
    return absl::OkStatus();
  }

  absl::Status Escape(std::string& text) {
    const size_t start = at_++;
    const char c = Peek();
    if (const std::optional<char> simple = SimpleEscape(c)) {
      text.push_back(*simple);
      ++at_;
      return absl::OkStatus();
    }
    int digits = 0;
    int base = 16;
    if (c == 'x' || c == 'X') digits = 2;
    if (c == 'u') digits = 4;
    if (c == 'U') digits = 8;
    if (digits > 0) {
      ++at_;
    } else if (c >= '0' && c <= '3') {
      digits = 3;
      base = 8;
    } else {
      return Error(start, "unknown escape");
    }
    uint32_t point = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const int value = HexValue(Peek());
      if (value < 0 || value >= base) return Error(start, "malformed escape");
      point = point * base + value;
    }
    return AppendUtf8(point, text) ? absl::OkStatus() : Error(start, "no such code point");
  }

  absl::Status Operator() {
    constexpr absl::string_view kOperators[] = {"==", "!=", "<=", ">=", "&&", "||", "<", ">",
                                                "+",  "-",  "*",  "/",  "%",  "!",  "?", ":",
                                                ".",  ",",  "(",  ")",  "[",  "]",  "{", "}"};
    for (absl::string_view candidate : kOperators) {
      if (!absl::StartsWith(source_.substr(at_), candidate)) continue;
      Emit(CelToken::Kind::kOperator, at_, std::string(candidate));
      at_ += candidate.size();
      return absl::OkStatus();
    }
    return Error(at_, "unexpected character");
  }

  absl::string_view source_;
  size_t at_ = 0;
  std::vector<CelToken> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<CelToken>> TokenizeCel(absl::string_view source) {
  if (source.size() > kMaxSource) {
    return absl::InvalidArgumentError(
        absl::StrCat("an expression of ", source.size(), " bytes is longer than ", kMaxSource));
  }
  return Lexer(source).Run();
}

}  // namespace maniple
