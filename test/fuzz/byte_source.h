// Fuzz bytes as a row of small choices, for targets that draw values instead of reading text.
//
// Owned by one run of a target. Once the bytes are spent, every choice is the first one.
//
//   ByteSource bytes(input);
//   for (int steps = bytes.Many(8); steps > 0; --steps) Do(bytes.Below(3));
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace maniple {

class ByteSource final {
 public:
  explicit ByteSource(absl::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }
  // In [0, bound). REQUIRES: 0 < bound <= 256.
  int Below(int bound) { return Byte() % bound; }
  // In [0, most], as often below 16 as above 128. REQUIRES: 0 <= most < 4096.
  int Many(int most) {
    const int octave = 1 << Below(12);
    return std::min(most, octave - 1 + octave * Byte() / 256);
  }
  // The next bytes as they are, fewer at the end.
  absl::string_view Text(size_t size) {
    const absl::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(text.size());
    return text;
  }
  absl::string_view Rest() { return Text(bytes_.size()); }

 private:
  absl::string_view bytes_;
};

}  // namespace maniple
