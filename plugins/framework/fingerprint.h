// A number for the contents of published structures, for tests that they never change.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "api/base/fingerprint.h"
#include "plugins/framework/columns.h"

namespace maniple {

class Fingerprinter final {
 public:
  void Add(uint64_t word) { print_.Add(word); }
  void Add(absl::string_view text) { print_.Add(text); }
  // Adds only values that are not zero, so that an absent column equals one of zeros.
  void Add(uint32_t resource, const Columns::Column& column) {
    for (uint32_t row = 0; row < kBlockNodes; ++row) {
      if (column[row] == 0) continue;
      Add(uint64_t{resource} << 32 | row);
      Add(static_cast<uint64_t>(column[row]));
    }
  }
  [[nodiscard]] uint64_t hash() const { return print_.value(); }

 private:
  Fingerprint print_;
};

}  // namespace maniple
