// A vector that copies cheaply: copies share immutable chunks, and a change copies one chunk.
//
// The tables of a snapshot (shapes, label values) are such vectors, and every snapshot holds its
// own consistent picture of them. A value type; a const one may be read by any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "api/base/check.h"

namespace maniple {

template <typename T>
class SharedVector final {
 public:
  [[nodiscard]] size_t size() const { return size_; }
  // REQUIRES: index < size().
  [[nodiscard]] const T& operator[](size_t index) const {
    CHECK_LT(index, size_);
    return (*chunks_[index / kChunk])[index % kChunk];
  }
  // O(size / 64) pointers are shared by a copy; O(64) elements are copied here.
  void PushBack(T value) {
    Chunk chunk;
    chunk.reserve(kChunk);
    const bool grows = size_ % kChunk != 0;
    if (grows) chunk.assign(chunks_.back()->begin(), chunks_.back()->end());
    chunk.push_back(std::move(value));
    auto shared = std::make_shared<const Chunk>(std::move(chunk));
    if (grows) {
      chunks_.back() = std::move(shared);
    } else {
      chunks_.push_back(std::move(shared));
    }
    ++size_;
  }
  // REQUIRES: index < size().
  void Set(size_t index, T value) {
    CHECK_LT(index, size_);
    Chunk chunk = *chunks_[index / kChunk];
    chunk[index % kChunk] = std::move(value);
    chunks_[index / kChunk] = std::make_shared<const Chunk>(std::move(chunk));
  }

 private:
  static constexpr size_t kChunk = 64;
  using Chunk = std::vector<T>;

  std::vector<std::shared_ptr<const Chunk>> chunks_;
  size_t size_ = 0;
};

}  // namespace maniple
