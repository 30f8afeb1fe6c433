#include "api/gpu/mig_layout.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

uint32_t Covered(const MigSlice& slice, int32_t start) {
  return ((uint32_t{1} << slice.size) - 1) << start;
}

// Counts in five bits each: a GPU has at most sixteen slices, of at most 32 profiles.
using PackedCounts = std::array<uint64_t, 3>;

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
  [[nodiscard]] const MigCounts& counts() const { return counts_; }
  [[nodiscard]] const PackedCounts& packed() const { return packed_; }

 private:
  [[nodiscard]] const MigSlice& At(const MigPlacement& placement) const {
    return table_.slices[static_cast<size_t>(placement.slice)];
  }
  void Change(const MigPlacement& placement, int32_t by) {
    const MigSlice& slice = At(placement);
    taken_ ^= Covered(slice, placement.start);
    counts_[static_cast<size_t>(placement.slice)] += by;
    packed_[static_cast<size_t>(placement.slice / 12)] += static_cast<uint64_t>(by)
                                                          << (5 * (placement.slice % 12));
    if (slice.media) media_ = by > 0;
  }

  const MigTable& table_;
  MigCounts counts_;
  PackedCounts packed_{};
  uint32_t taken_ = 0;
  bool media_ = false;
};

// Placements of further slices, by start.
struct Placements {
  std::vector<MigPlacement> all;
  std::vector<size_t> after;  // by placement: the first one that starts behind it
};

// The placements that the board takes.
Placements PlacementsOn(const MigTable& table, const Board& board) {
  Placements out;
  for (size_t i = 0; i < table.slices.size(); ++i) {
    for (const int32_t start : table.slices[i].starts) {
      const MigPlacement placement{.start = start, .slice = static_cast<int32_t>(i)};
      if (board.Takes(placement)) out.all.push_back(placement);
    }
  }
  std::sort(out.all.begin(), out.all.end());
  for (const MigPlacement& placement : out.all) {
    const int32_t end = placement.start + table.slices[static_cast<size_t>(placement.slice)].size;
    const auto behind =
        std::lower_bound(out.all.begin(), out.all.end(), end,
                         [](const MigPlacement& a, int32_t b) { return a.start < b; });
    out.after.push_back(static_cast<size_t>(behind - out.all.begin()));
  }
  return out;
}

Board BoardOf(const MigTable& table, const MigLayout& layout) {
  Board board(table);
  for (const MigPlacement& placement : layout) board.Put(placement);
  return board;
}

bool TakesNothing(const Board& board, const std::vector<MigPlacement>& all) {
  return std::none_of(all.begin(), all.end(),
                      [&](const MigPlacement& placement) { return board.Takes(placement); });
}

// Calls `visit` for every legal set of further placements on the board, the empty one included.
// `added` is the set.
void ForEachSet(const Placements& placements, size_t from, Board& board, MigLayout& added,
                absl::FunctionRef<void()> visit) {
  visit();
  for (size_t i = from; i < placements.all.size(); ++i) {
    const MigPlacement& placement = placements.all[i];
    if (!board.Takes(placement)) continue;
    board.Put(placement);
    added.push_back(placement);
    ForEachSet(placements, placements.after[i], board, added, visit);
    added.pop_back();
    board.Remove(placement);
  }
}

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

bool IsLegal(const MigTable& table, const MigLayout& layout) {
  Board board(table);
  for (const MigPlacement& placement : layout) {
    const std::vector<int32_t>& starts = table.slices[static_cast<size_t>(placement.slice)].starts;
    if (!std::binary_search(starts.begin(), starts.end(), placement.start)) return false;
    if (!board.Takes(placement)) return false;
    board.Put(placement);
  }
  return true;
}

std::vector<MigLayout> LegalLayouts(const MigTable& table) {
  std::vector<MigLayout> layouts;
  Board board(table);
  MigLayout layout;
  ForEachSet(PlacementsOn(table, board), 0, board, layout, [&] {
    if (!layout.empty()) layouts.push_back(layout);
  });
  return layouts;
}

std::vector<MigLayout> MaximalLayouts(const MigTable& table) {
  std::vector<MigLayout> layouts;
  Board board(table);
  const Placements placements = PlacementsOn(table, board);
  MigLayout layout;
  ForEachSet(placements, 0, board, layout, [&] {
    if (TakesNothing(board, placements.all)) layouts.push_back(layout);
  });
  return layouts;
}

MigCounts CountsOf(const MigTable& table, const MigLayout& layout) {
  return BoardOf(table, layout).counts();
}

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

MigCompletions CompletionsOf(const MigTable& table, const MigLayout& layout) {
  MigCompletions found;
  Board board = BoardOf(table, layout);
  MigLayout added;
  absl::flat_hash_set<PackedCounts> counts;
  ForEachSet(PlacementsOn(table, board), 0, board, added, [&] {
    ++found.layouts;
    counts.insert(board.packed());
  });
  found.counts = static_cast<int64_t>(counts.size());
  return found;
}

std::optional<int32_t> BestStart(const MigTable& table, const MigLayout& layout, int32_t slice) {
  const Board board = BoardOf(table, layout);
  std::optional<int32_t> best;
  MigCompletions most;
  for (const int32_t start : table.slices[static_cast<size_t>(slice)].starts) {
    const MigPlacement placement{.start = start, .slice = slice};
    if (!board.Takes(placement)) continue;
    MigLayout with = layout;
    with.push_back(placement);
    const MigCompletions left = CompletionsOf(table, with);
    if (best.has_value() && left <= most) continue;
    best = start;
    most = left;
  }
  return best;
}

std::string MigLayoutText(const MigTable& table, const MigLayout& layout) {
  std::string text;
  for (const MigPlacement& placement : layout) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    table.slices[static_cast<size_t>(placement.slice)].profile, "@",
                    placement.start);
  }
  return text;
}

}  // namespace maniple
