// Makes "one owner thread" checkable: the first call adopts the calling thread, every later call
// must come from it.
#pragma once

#include <atomic>
#include <cstdint>

namespace maniple {

class ThreadOwner final {
 public:
  // Aborts when the calling thread is not the one that called first.
  void Check() const;

 private:
  mutable std::atomic<uint64_t> owner_{0};
};

}  // namespace maniple
