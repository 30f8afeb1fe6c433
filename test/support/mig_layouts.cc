#include "test/support/mig_layouts.h"

#include <algorithm>

namespace maniple {
namespace {

const MigSlice& SliceOf(const MigTable& table, const MigPlacement& placement) {
  return table.slices[static_cast<size_t>(placement.slice)];
}

// By start, and by slice where that is the same.
std::vector<MigPlacement> AllPlacements(const MigTable& table) {
  std::vector<MigPlacement> all;
  for (size_t i = 0; i < table.slices.size(); ++i) {
    for (const int32_t start : table.slices[i].starts) {
      all.push_back({.start = start, .slice = static_cast<int32_t>(i)});
    }
  }
  std::ranges::sort(all);
  return all;
}

// Appends every legal layout that begins with `layout`, itself excluded.
void Extend(const MigTable& table, const std::vector<MigPlacement>& all, MigLayout& layout,
            std::vector<MigLayout>& out) {
  for (const MigPlacement& placement : all) {
    if (!layout.empty() && placement.start <= layout.back().start) continue;
    layout.push_back(placement);
    if (IsLegal(table, layout)) {
      out.push_back(layout);
      Extend(table, all, layout, out);
    }
    layout.pop_back();
  }
}

}  // namespace

bool IsLegal(const MigTable& table, const MigLayout& layout) {
  MigCounts counts(table.slices.size(), 0);
  int64_t taken = 0;  // memory slices, a bit each
  bool media = false;
  for (const MigPlacement& placement : layout) {
    const MigSlice& slice = SliceOf(table, placement);
    const int64_t covered = ((int64_t{1} << slice.size) - 1) << placement.start;
    const bool starts_there = std::ranges::binary_search(slice.starts, placement.start);
    if (!starts_there || (taken & covered) != 0 || (media && slice.media)) return false;
    if (++counts[static_cast<size_t>(placement.slice)] > slice.max_per_gpu) return false;
    taken |= covered;
    media = media || slice.media;
  }
  return true;
}

std::vector<MigLayout> LegalLayouts(const MigTable& table) {
  std::vector<MigLayout> layouts;
  MigLayout layout;
  Extend(table, AllPlacements(table), layout, layouts);
  return layouts;
}

std::vector<MigLayout> MaximalLayouts(const MigTable& table) {
  const std::vector<MigPlacement> all = AllPlacements(table);
  std::vector<MigLayout> layouts = LegalLayouts(table);
  std::erase_if(layouts, [&](const MigLayout& layout) {
    return std::ranges::any_of(all, [&](const MigPlacement& placement) {
      MigLayout with = layout;
      with.push_back(placement);
      return IsLegal(table, with);
    });
  });
  return layouts;
}

MigCounts CountsOf(const MigTable& table, const MigLayout& layout) {
  MigCounts counts(table.slices.size(), 0);
  for (const MigPlacement& placement : layout) ++counts[static_cast<size_t>(placement.slice)];
  return counts;
}

}  // namespace maniple
