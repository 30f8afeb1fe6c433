// The JSON grammar: one pass over a text that tells a sink what stands there.
//
// Nothing here recurses, so nesting costs a byte of heap a level; a sink that wants a bound stops
// the scan. Strings come with their escapes resolved: those without any are views into the text,
// the others live until the next one. The encoding is not looked at, and a lone low surrogate comes
// encoded as if it were a character: sinks that keep strings check them. Private to this room.
//
//   struct Sink {                      // every answer false: stop
//     bool Null(); bool Bool(bool); bool Number(absl::string_view);
//     bool String(absl::string_view, TextLasts); bool Key(absl::string_view, TextLasts);
//     bool Open(Bracket); bool Close(Bracket);
//     // Asked of a key that a list or an object follows. Yes: it is told as null, and only its
//     // brackets and quotes are looked at.
//     bool PassesOver(absl::string_view key);
//   };
//   JsonScan scan(text, memory, sink);
//   if (!scan.Run()) …                 // scan.problem() at byte scan.offset()
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

enum class Bracket : char { kArray = '[', kObject = '{' };
// Whether a string is a view into the scanned text or one that the next string overwrites.
enum class TextLasts { kYes, kNo };

// What a scan needs beside the text; reused from scan to scan.
struct ScanMemory {
  std::string open;       // the brackets that are open
  std::string unescaped;  // the latest string that had escapes
};

namespace json_scan {

inline constexpr uint64_t kOnes = 0x0101010101010101u;
inline constexpr uint64_t kHighs = 0x8080808080808080u;

// Not zero when one of the eight bytes is a quote, a backslash or a control character.
inline uint64_t SpecialBytes(uint64_t word) {
  const auto zero = [](uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
  const uint64_t control = (word - kOnes * 0x20) & ~word;
  return (control | zero(word ^ kOnes * '"') | zero(word ^ kOnes * '\\')) & kHighs;
}
// Which of the eight bytes at an address is the first one with its high bit in `marks`: what lies
// behind it may be marked wrongly, it is not. REQUIRES: marks != 0.
inline size_t FirstMarked(uint64_t marks) {
  static_assert(std::endian::native == std::endian::little);
  return static_cast<size_t>(std::countr_zero(marks)) / 8;
}
inline bool IsSpecial(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

// The first byte at or after `at` that is a quote, a backslash or a control character.
inline const char* EndOfPlain(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if (const uint64_t marks = SpecialBytes(word); marks != 0) return at + FirstMarked(marks);
  }
  while (at != end && !IsSpecial(*at)) ++at;
  return at;
}

// Behind the bracket that closes the list or object at `at`; nullptr when there is none.
const char* EndOfContainer(const char* at, const char* end);

// Reads the escape behind a backslash and appends what it stands for. nullptr: it is none.
const char* ReadEscape(const char* at, const char* end, std::string& out);

}  // namespace json_scan

template <typename Sink>
class JsonScan final {
 public:
  // All are borrowed.
  JsonScan(absl::string_view text, ScanMemory& memory, Sink& sink)
      : begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        memory_(memory),
        sink_(sink) {}

  // Whether the text is exactly one value with nothing but white space around it, and the sink
  // took all of it.
  [[nodiscard]] bool Run() {
    memory_.open.clear();
    SkipSpace();
    if (!Value()) return false;
    while (!memory_.open.empty()) {
      if (!(memory_.open.back() == '{' ? InObject() : InArray())) return false;
    }
    SkipSpace();
    return at_ == end_ || Fail("text after the value");
  }
  // Why Run stopped; "" when the sink wanted that.
  [[nodiscard]] absl::string_view problem() const { return problem_; }
  [[nodiscard]] size_t offset() const { return static_cast<size_t>(at_ - begin_); }

 private:
  bool Fail(absl::string_view problem) {
    problem_ = problem;
    return false;
  }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] bool Is(char c) const { return at_ != end_ && *at_ == c; }
  void SkipSpace() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  // Both stand behind the bracket or behind a value.
  bool InObject() {
    SkipSpace();
    if (Is('}')) return Close(Bracket::kObject);
    if (!ComesNext("expected ',' or '}'")) return false;
    if (!Is('"')) return Fail("expected a key");
    absl::string_view key;
    TextLasts lasts = TextLasts::kYes;
    if (!Text(key, lasts)) return false;
    if (!sink_.Key(key, lasts)) return false;
    SkipSpace();
    if (!Is(':')) return Fail("expected ':'");
    ++at_;
    SkipSpace();
    return (Is('[') || Is('{')) && sink_.PassesOver(key) ? PassOver() : Value();
  }
  bool InArray() {
    SkipSpace();
    if (Is(']')) return Close(Bracket::kArray);
    return ComesNext("expected ',' or ']'") && Value();
  }
  bool ComesNext(absl::string_view otherwise) {
    if (!fresh_) {
      if (!Is(',')) return Fail(otherwise);
      ++at_;
      SkipSpace();
    }
    return true;
  }

  bool Open(Bracket bracket) {
    ++at_;
    fresh_ = true;
    memory_.open.push_back(static_cast<char>(bracket));
    return sink_.Open(bracket);
  }
  bool Close(Bracket bracket) {
    ++at_;
    fresh_ = false;
    memory_.open.pop_back();
    return sink_.Close(bracket);
  }

  bool Value() {
    if (at_ == end_) return Fail("a value is missing");
    fresh_ = false;
    switch (*at_) {
      case '{':
        return Open(Bracket::kObject);
      case '[':
        return Open(Bracket::kArray);
      case '"': {
        absl::string_view text;
        TextLasts lasts = TextLasts::kYes;
        return Text(text, lasts) && sink_.String(text, lasts);
      }
      case 't':
        return Word("true") && sink_.Bool(true);
      case 'f':
        return Word("false") && sink_.Bool(false);
      case 'n':
        return Word("null") && sink_.Null();
      default:
        return Number();
    }
  }
  bool PassOver() {
    const char* behind = json_scan::EndOfContainer(at_, end_);
    if (behind == nullptr) return Value();  // which finds out what is wrong with it
    at_ = behind;
    fresh_ = false;
    return sink_.Null();
  }
  bool Word(absl::string_view word) {
    if (absl::string_view(at_, static_cast<size_t>(end_ - at_)).substr(0, word.size()) != word) {
      return Fail("no such value");
    }
    at_ += word.size();
    return true;
  }
  bool Digits() {
    if (at_ == end_ || !IsDigit(*at_)) return Fail("expected a digit");
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return true;
  }
  bool Number() {
    const char* const start = at_;
    if (*at_ != '-' && !IsDigit(*at_)) return Fail("no such value");
    if (*at_ == '-') ++at_;
    if (Is('0')) {
      ++at_;
    } else if (!Digits()) {
      return false;
    }
    if (Is('.')) {
      ++at_;
      if (!Digits()) return false;
    }
    if (Is('e') || Is('E')) {
      ++at_;
      if (Is('+') || Is('-')) ++at_;
      if (!Digits()) return false;
    }
    return sink_.Number(absl::string_view(start, static_cast<size_t>(at_ - start)));
  }

  // REQUIRES: at the opening quote.
  bool Text(absl::string_view& out, TextLasts& lasts) {
    const char* start = ++at_;
    at_ = json_scan::EndOfPlain(at_, end_);
    if (Is('"')) {
      out = absl::string_view(start, static_cast<size_t>(at_ - start));
      ++at_;
      return true;
    }
    std::string& text = memory_.unescaped;
    text.clear();
    for (;;) {
      text.append(start, static_cast<size_t>(at_ - start));
      if (at_ == end_) return Fail("a string without end");
      if (*at_ == '"') break;
      if (*at_ != '\\') return Fail("a control character in a string");
      const char* behind = json_scan::ReadEscape(at_ + 1, end_, text);
      if (behind == nullptr) return Fail("no such escape");
      start = behind;
      at_ = json_scan::EndOfPlain(start, end_);
    }
    ++at_;
    out = text;
    lasts = TextLasts::kNo;
    return true;
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  ScanMemory& memory_;
  Sink& sink_;
  bool fresh_ = false;  // nothing has come since the bracket
  absl::string_view problem_;
};

}  // namespace maniple
