// What every libFuzzer binary is around its target, which the build names: it stops where the
// oracle does not hold, and libFuzzer keeps the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

[[nodiscard]] std::string MANIPLE_FUZZ_TARGET(absl::string_view bytes);

}  // namespace maniple

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong =
      maniple::MANIPLE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  std::cerr << "the oracle does not hold: " << wrong << std::endl;
  std::abort();
}
