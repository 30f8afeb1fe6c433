#include "bench/bytes_in_use.h"

#include <gperftools/malloc_extension_c.h>

#include <cstddef>

#include "api/base/check.h"

namespace maniple {

int64_t BytesInUse() {
  size_t bytes = 0;
  CHECK(MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes) != 0);
  return static_cast<int64_t>(bytes);
}

}  // namespace maniple
