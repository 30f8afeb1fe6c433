#include "scheduler/app/spare_memory.h"

#ifdef MANIPLE_TCMALLOC
#include <gperftools/malloc_extension.h>
#endif

namespace maniple {
namespace {

#ifdef MANIPLE_TCMALLOC
size_t FreeBytes() {
  size_t bytes = 0;
  MallocExtension::instance()->GetNumericProperty("tcmalloc.pageheap_free_bytes", &bytes);
  return bytes;
}
void GiveBack(size_t bytes) { MallocExtension::instance()->ReleaseToSystem(bytes); }
void LimitThreadCaches(size_t bytes) {
  MallocExtension::instance()->SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", bytes);
}
#else
size_t FreeBytes() { return 0; }
void GiveBack(size_t) {}
void LimitThreadCaches(size_t) {}
#endif

}  // namespace

SpareMemory::SpareMemory() { LimitThreadCaches(kThreadCaches); }

absl::Time SpareMemory::OnTime(absl::Time now) {
  if (now < due_) return due_;
  const size_t surplus = Surplus(free_before_, FreeBytes());
  if (surplus > 0) GiveBack(surplus);
  free_before_ = FreeBytes();
  due_ = now + kEvery;
  return due_;
}

}  // namespace maniple
