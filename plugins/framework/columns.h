// The pieces of a block of nodes: a bit per node, and columns of amounts per resource.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/model/ids.h"

namespace maniple {

inline constexpr uint32_t kBlockNodes = 256;

// One bit per row of a block.
class NodeMask final {
 public:
  [[nodiscard]] bool Test(uint32_t row) const { return (words_[row / 64] >> (row % 64)) & 1; }
  void Set(uint32_t row) { words_[row / 64] |= uint64_t{1} << (row % 64); }
  void Clear(uint32_t row) { words_[row / 64] &= ~(uint64_t{1} << (row % 64)); }

  [[nodiscard]] bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  [[nodiscard]] int Count() const {
    int count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  NodeMask& operator|=(const NodeMask& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  NodeMask& operator&=(const NodeMask& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  [[nodiscard]] std::span<uint64_t, 4> words() { return words_; }

  // Calls visit(row) for every set bit, in row order; visit may clear the bit it is at.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (uint32_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(i * 64 + static_cast<uint32_t>(std::countr_zero(word)));
      }
    }
  }
  friend bool operator==(const NodeMask&, const NodeMask&) = default;

 private:
  std::array<uint64_t, kBlockNodes / 64> words_{};
};

// A set of nodes, block by block.
using NodeSet = std::vector<NodeMask>;

// Amounts of every resource for the nodes of one block, resource by resource. A resource that no
// node of the block has or uses takes no space and reads as zero.
class Columns final {
 public:
  using Column = std::array<int64_t, kBlockNodes>;

  [[nodiscard]] const Column& Of(ResourceId resource) const {
    const uint32_t index = resource.index();
    return index < slots_.size() && slots_[index] >= 0 ? values_[static_cast<size_t>(slots_[index])]
                                                       : kZeros;
  }
  [[nodiscard]] bool Has(ResourceId resource) const {
    return resource.index() < slots_.size() && slots_[resource.index()] >= 0;
  }
  [[nodiscard]] Column& Mutable(ResourceId resource);
  // Resources have indices below this.
  [[nodiscard]] uint32_t limit() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  static const Column kZeros;

  std::vector<int16_t> slots_;  // by resource; -1 = absent
  std::vector<Column> values_;
};

}  // namespace maniple
