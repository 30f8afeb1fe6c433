// What the codecs need to know of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// The length of the well-formed UTF-8 sequence at `text[at]`; 0 when there is none. REQUIRES: at <
// text.size().
[[nodiscard]] size_t Utf8SequenceLength(absl::string_view text, size_t at);

// Where the first byte stands that is no part of a well-formed sequence; npos when there is none.
[[nodiscard]] size_t FindInvalidUtf8(absl::string_view text);
[[nodiscard]] inline bool IsUtf8(absl::string_view text) {
  return FindInvalidUtf8(text) == absl::string_view::npos;
}

// How many characters a well-formed text has.
[[nodiscard]] int64_t CodePoints(absl::string_view text);

// Whether an otherwise well-formed text holds an encoded surrogate, which RapidJSON makes of a lone
// "\udc00".
[[nodiscard]] bool HasEncodedSurrogate(absl::string_view text);

// The longest prefix of at most `limit` bytes that ends between two characters.
[[nodiscard]] absl::string_view Utf8Prefix(absl::string_view text, size_t limit);

// The same text with every byte that is no part of a well-formed sequence replaced by U+FFFD and
// every control character by a space: safe to show on one line.
[[nodiscard]] std::string Printable(absl::string_view text);

}  // namespace maniple
