#include "api/codec/json_scan.h"

#include <optional>

namespace maniple::json_scan {
namespace {

constexpr uint32_t kFirstLow = 0xDC00;  // of the second halves of surrogate pairs

bool IsHighSurrogate(uint32_t unit) { return unit >= 0xD800 && unit < kFirstLow; }
bool IsLowSurrogate(uint32_t unit) { return unit >= kFirstLow && unit <= 0xDFFF; }

// The four hexadecimal digits of a \u escape.
std::optional<uint32_t> ReadUnit(const char* at, const char* end) {
  if (end - at < 4) return std::nullopt;
  uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at[i];
    uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<uint32_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
    unit = unit << 4 | digit;
  }
  return unit;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto put_rest = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put_rest(0);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put_rest(6);
    put_rest(0);
  } else {
    put(0xF0 | code >> 18);
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
}

// `at` is behind "\u".
const char* ReadUnicode(const char* at, const char* end, std::string& out) {
  const std::optional<uint32_t> unit = ReadUnit(at, end);
  if (!unit.has_value()) return nullptr;
  at += 4;
  uint32_t code = *unit;
  if (IsHighSurrogate(code)) {
    if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return nullptr;
    const std::optional<uint32_t> low = ReadUnit(at + 2, end);
    if (!low.has_value() || !IsLowSurrogate(*low)) return nullptr;
    at += 6;
    code = 0x10000 + ((code - 0xD800) << 10) + (*low - kFirstLow);
  }
  AppendUtf8(code, out);
  return at;
}

}  // namespace

const char* EndOfContainer(const char* at, const char* end) {
  size_t depth = 0;
  for (; at != end; ++at) {
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
        for (++at; at != end && *at != '"'; ++at) {
          if (*at == '\\' && ++at == end) return nullptr;
        }
        if (at == end) return nullptr;
        break;
      default:
        break;
    }
  }
  return nullptr;
}

const char* ReadEscape(const char* at, const char* end, std::string& out) {
  if (at == end) return nullptr;
  switch (*at) {
    case '"':
    case '\\':
    case '/':
      out.push_back(*at);
      break;
    case 'b':
      out.push_back('\b');
      break;
    case 'f':
      out.push_back('\f');
      break;
    case 'n':
      out.push_back('\n');
      break;
    case 'r':
      out.push_back('\r');
      break;
    case 't':
      out.push_back('\t');
      break;
    case 'u':
      return ReadUnicode(at + 1, end, out);
    default:
      return nullptr;
  }
  return at + 1;
}

}  // namespace maniple::json_scan
