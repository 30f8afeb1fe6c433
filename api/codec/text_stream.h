// RapidJSON's input: the text, and the way around a value that is passed over. Private to this
// room.
//
// Made for in-situ parsing, but the text is never written to: a string without escapes is taken
// where it stands, in one leap; one with escapes is put together beside it. For a handler:
//
//   bool String(const char* text, unsigned size, bool)   // stays as long as stream.InPlace() says
//   bool RawNumber(const char* end, unsigned size, bool) // the digits are NumberBefore(end, size)
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/text_scan.h"

namespace maniple {

class TextStream final {
 public:
  using Ch = char;

  // The text is borrowed.
  explicit TextStream(absl::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  Ch Peek() const { return at_ != end_ ? *at_ : '\0'; }
  Ch Take() {
    if (at_ == end_) return '\0';
    const Ch c = *at_++;
    if (at_ == end_ && resume_ != nullptr) Resume();
    return c;
  }
  size_t Tell() const { return static_cast<size_t>((resume_ != nullptr ? resume_ : at_) - begin_); }
  bool AtEnd() const { return at_ == end_; }

  // RapidJSON calls this after the quote that opens a string, and after a number. `end_` is where
  // the text ends, as there are neither in a detour.
  Ch* PutBegin() {
    if (at_ == begin_ || at_[-1] != '"') return const_cast<Ch*>(at_);
    const char* const stop = EndOfRun<RunEnds::kAtThose>(at_, end_);
    in_place_ = stop != end_ && *stop == '"';
    if (in_place_) {
      Ch* const head = const_cast<Ch*>(at_);
      put_ = const_cast<Ch*>(stop);
      at_ = stop;
      return head;
    }
    // What an escape stands for is never longer than the escape; RapidJSON adds a NUL.
    beside_.resize(static_cast<size_t>(end_ - begin_) + 1);
    put_ = beside_.data();
    return put_;
  }
  void Put(Ch c) {
    if (!in_place_) *put_ = c;
    ++put_;
  }
  void Flush() {}
  size_t PutEnd(const Ch* head) const { return static_cast<size_t>(put_ - head); }

  // Whether the last string stands in the text; else it is gone with the next one.
  bool InPlace() const { return in_place_; }
  static absl::string_view NumberBefore(const Ch* end, size_t size) { return {end - size, size}; }

  // Called right after a key: whether a list or an object comes.
  bool ContainerFollows() const {
    const char* value = ValueAfterColon();
    return value != nullptr && (*value == '[' || *value == '{');
  }
  // Makes the list or object that follows look like null. Leaves everything as it is when it does
  // not end: then the reader will find out what is wrong. REQUIRES: ContainerFollows().
  void PassOver() {
    const char* after = EndOfContainer(ValueAfterColon());
    if (after == nullptr) return;
    resume_ = after;
    resume_end_ = end_;
    at_ = kDetour;
    end_ = kDetour + sizeof kDetour - 1;
  }

 private:
  static constexpr char kDetour[] = ":null";

  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  const char* SkipSpace(const char* at) const {
    while (at != end_ && IsSpace(*at)) ++at;
    return at;
  }
  const char* ValueAfterColon() const {
    const char* colon = SkipSpace(at_);
    if (colon == end_ || *colon != ':') return nullptr;
    const char* value = SkipSpace(colon + 1);
    return value != end_ ? value : nullptr;
  }
  const char* EndOfContainer(const char* at) const {
    size_t depth = 0;
    for (; at != end_; ++at) {
      switch (*at) {
        case '[':
        case '{':
          ++depth;
          break;
        case ']':
        case '}':
          if (--depth == 0) return at + 1;
          break;
        case '"':
          for (++at; at != end_ && *at != '"'; ++at) {
            if (*at == '\\' && ++at == end_) return nullptr;
          }
          if (at == end_) return nullptr;
          break;
        default:
          break;
      }
    }
    return nullptr;
  }
  void Resume() {
    at_ = resume_;
    end_ = resume_end_;
    resume_ = nullptr;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* resume_ = nullptr;  // set while on the detour
  const char* resume_end_ = nullptr;
  Ch* put_ = nullptr;  // one past what the string holds so far
  bool in_place_ = true;
  std::string beside_;
};

}  // namespace maniple
