#include "test/support/heap_in_use.h"

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define MANIPLE_SANITIZER_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MANIPLE_SANITIZER_HEAP
#endif
#endif

#if defined(MANIPLE_SANITIZER_HEAP)
// Every sanitizer with a heap of its own has this function; GCC ships no header that declares it.
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#elif defined(MANIPLE_TCMALLOC)
#include <gperftools/malloc_extension_c.h>

#include "api/base/check.h"
#else
#include <malloc.h>
#endif

namespace maniple {

int64_t HeapInUse() {
#if defined(MANIPLE_SANITIZER_HEAP)
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#elif defined(MANIPLE_TCMALLOC)
  size_t bytes = 0;
  CHECK(MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes) != 0);
  return static_cast<int64_t>(bytes);
#else
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#endif
}

}  // namespace maniple
