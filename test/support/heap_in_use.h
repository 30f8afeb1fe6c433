// How much of the heap this process uses, whoever gives it out: tcmalloc, glibc, or a sanitizer.
#pragma once

#include <cstdint>

namespace maniple {

// Bytes given out and not given back. Any thread.
[[nodiscard]] int64_t HeapInUse();

}  // namespace maniple
