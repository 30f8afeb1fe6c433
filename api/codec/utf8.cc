#include "api/codec/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace maniple {

// The length of the well-formed UTF-8 sequence at `text[at]`, 0 when there is none.
size_t Utf8SequenceLength(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(at + 1) || !continues(at + 2)) return 0;
    if (lead == 0xE0 && byte(at + 1) < 0xA0) return 0;   // overlong
    if (lead == 0xED && byte(at + 1) >= 0xA0) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(at + 1) || !continues(at + 2) || !continues(at + 3)) return 0;
    if (lead == 0xF0 && byte(at + 1) < 0x90) return 0;   // overlong
    if (lead == 0xF4 && byte(at + 1) >= 0x90) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

size_t FindInvalidUtf8(absl::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  size_t at = 0;
  while (at < text.size()) {
    // Almost all text is ASCII: eight bytes at a time.
    uint64_t word = 0;
    if (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & kHighBits) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return absl::string_view::npos;
}

bool HasEncodedSurrogate(absl::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, '\xED', static_cast<size_t>(end - at)));
    if (at == nullptr || at + 1 >= end) return false;
    if (static_cast<unsigned char>(at[1]) >= 0xA0) return true;
    ++at;
  }
  return false;
}

int64_t CodePoints(absl::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

absl::string_view Utf8Prefix(absl::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return text.substr(0, end);
}

namespace {

// Also those from U+0080 to U+009F: U+009B begins a command to a terminal, U+0085 ends a line.
bool IsControl(absl::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (lead == 0xC2) return static_cast<unsigned char>(character[1]) < 0xA0;
  return lead < 0x20 || lead == 0x7F;
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
      continue;
    }
    if (IsControl(text.substr(at, length))) {
      out += ' ';
    } else {
      out.append(text.data() + at, length);
    }
    at += length;
  }
  return out;
}

}  // namespace maniple
