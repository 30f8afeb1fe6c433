#include "api/gpu/mig_layout.h"

#include <algorithm>

namespace maniple {
namespace {

uint32_t Covered(const MigSlice& slice, int32_t start) {
  return ((uint32_t{1} << slice.size) - 1) << start;
}

// A GPU that is being filled.
class Board final {
 public:
  explicit Board(const MigTable& table) : table_(table), counts_(table.slices.size(), 0) {}

  [[nodiscard]] bool Takes(const MigPlacement& placement) const {
    const MigSlice& slice = At(placement);
    return (taken_ & Covered(slice, placement.start)) == 0 &&
           counts_[static_cast<size_t>(placement.slice)] < slice.max_per_gpu &&
           !(slice.media && media_);
  }
  void Put(const MigPlacement& placement) { Change(placement, 1); }
  void Remove(const MigPlacement& placement) { Change(placement, -1); }

 private:
  [[nodiscard]] const MigSlice& At(const MigPlacement& placement) const {
    return table_.slices[static_cast<size_t>(placement.slice)];
  }
  void Change(const MigPlacement& placement, int32_t by) {
    const MigSlice& slice = At(placement);
    taken_ ^= Covered(slice, placement.start);
    counts_[static_cast<size_t>(placement.slice)] += by;
    if (slice.media) media_ = by > 0;
  }

  const MigTable& table_;
  MigCounts counts_;
  uint32_t taken_ = 0;
  bool media_ = false;
};

// Places the rest of `counts`, the widest first: they have the fewest places.
bool Place(const MigTable& table, const std::vector<int32_t>& order, MigCounts& left, Board& board,
           MigLayout& layout) {
  const auto next = std::find_if(order.begin(), order.end(), [&](int32_t slice) {
    return left[static_cast<size_t>(slice)] > 0;
  });
  if (next == order.end()) return true;
  // Equal slices are placed from left to right, so that no set is tried twice.
  int32_t least = 0;
  for (const MigPlacement& placement : layout) {
    if (placement.slice == *next) least = std::max(least, placement.start + 1);
  }
  for (const int32_t start : table.slices[static_cast<size_t>(*next)].starts) {
    const MigPlacement placement{.start = start, .slice = *next};
    if (start < least || !board.Takes(placement)) continue;
    board.Put(placement);
    layout.push_back(placement);
    --left[static_cast<size_t>(*next)];
    if (Place(table, order, left, board, layout)) return true;
    ++left[static_cast<size_t>(*next)];
    layout.pop_back();
    board.Remove(placement);
  }
  return false;
}

// More slices than memory slices are impossible, and a search for them would be long.
bool TooMany(const MigTable& table, const MigCounts& counts) {
  int64_t width = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || counts[i] > table.slices[i].max_per_gpu) return true;
    width += int64_t{counts[i]} * table.slices[i].size;
  }
  return width > table.width();
}

}  // namespace

std::optional<MigLayout> FindLayout(const MigTable& table, const MigCounts& counts) {
  if (counts.size() > table.slices.size() || TooMany(table, counts)) return std::nullopt;
  MigCounts left = counts;
  left.resize(table.slices.size(), 0);
  std::vector<int32_t> order;
  for (size_t i = 0; i < left.size(); ++i) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return table.slices[static_cast<size_t>(a)].size > table.slices[static_cast<size_t>(b)].size;
  });
  Board board(table);
  MigLayout layout;
  if (!Place(table, order, left, board, layout)) return std::nullopt;
  std::sort(layout.begin(), layout.end());
  return layout;
}

}  // namespace maniple
