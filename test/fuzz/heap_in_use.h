// How much of the heap this process uses, whoever gives it out: glibc, or a sanitizer.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define MANIPLE_SANITIZER_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MANIPLE_SANITIZER_HEAP
#endif
#endif

#ifdef MANIPLE_SANITIZER_HEAP
// Every sanitizer with a heap of its own has this function; GCC ships no header that declares it.
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace maniple {

// Bytes given out and not given back. Any thread.
[[nodiscard]] inline int64_t HeapInUse() {
#ifdef MANIPLE_SANITIZER_HEAP
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#endif
}

}  // namespace maniple
