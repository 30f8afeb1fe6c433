// A number for some contents: equal for equal contents, on every machine and in every process.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace maniple {

// FNV-1a over bytes, unlike absl::Hash without a seed. Not for tables that hostile keys get into.
class Fingerprint final {
 public:
  void Add(uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8) Byte(static_cast<uint8_t>(word));
  }
  void Add(absl::string_view text) {
    Add(uint64_t{text.size()});
    for (const char c : text) Byte(static_cast<uint8_t>(c));
  }
  [[nodiscard]] uint64_t value() const { return value_; }

 private:
  void Byte(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }
  uint64_t value_ = 0xcbf29ce484222325ULL;
};

[[nodiscard]] inline uint64_t FingerprintOf(absl::string_view text) {
  Fingerprint print;
  print.Add(text);
  return print.value();
}

}  // namespace maniple
