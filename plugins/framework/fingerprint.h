// A number for the contents of published structures, for tests that they never change.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "plugins/framework/columns.h"

namespace maniple {

// FNV-1a over words: the same in every process, unlike absl::Hash.
class Fingerprinter final {
 public:
  void Add(uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8) hash_ = (hash_ ^ (word & 0xff)) * 0x100000001b3ULL;
  }
  void Add(absl::string_view text) {
    Add(uint64_t{text.size()});
    for (const char c : text) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  }
  // Only what is not zero, so that an absent column equals one of zeros.
  void Add(uint32_t resource, const Columns::Column& column) {
    for (uint32_t row = 0; row < kBlockNodes; ++row) {
      if (column[row] == 0) continue;
      Add(uint64_t{resource} << 32 | row);
      Add(static_cast<uint64_t>(column[row]));
    }
  }
  [[nodiscard]] uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace maniple
