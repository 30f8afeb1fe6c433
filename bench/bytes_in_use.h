// How much of the heap this process uses, by the allocator that the programs run with.
#pragma once

#include <cstdint>

namespace maniple {

// Bytes given out and not given back, each allocation rounded up as the allocator does. Any thread.
[[nodiscard]] int64_t BytesInUse();

}  // namespace maniple
