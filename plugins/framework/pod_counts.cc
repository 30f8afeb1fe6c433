#include "plugins/framework/pod_counts.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// Up to so many changes are put in one by one; more are merged in one pass.
constexpr size_t kFewChanges = 8;

std::pair<uint32_t, uint32_t> PlaceOf(const PodCounts::Entry& entry) {
  return {entry.count.index(), entry.row};
}

}  // namespace

std::span<const PodCounts::Entry> PodCounts::Of(PodCountId count) const {
  const auto first = std::ranges::lower_bound(entries_, count, {}, &Entry::count);
  const auto last = std::ranges::upper_bound(entries_, count, {}, &Entry::count);
  return {first, last};
}

int64_t PodCounts::At(PodCountId count, uint32_t row) const {
  const auto at = std::ranges::lower_bound(entries_, std::pair(count.index(), row), {}, PlaceOf);
  return at != entries_.end() && at->count == count && at->row == row ? at->value : 0;
}

void PodCounts::AddOne(uint32_t row, PodCountChange change) {
  const auto at =
      std::ranges::lower_bound(entries_, std::pair(change.count.index(), row), {}, PlaceOf);
  if (at == entries_.end() || at->count != change.count || at->row != row) {
    entries_.insert(at, Entry{.count = change.count, .row = row, .value = change.change});
  } else if (at->value += change.change; at->value == 0) {
    entries_.erase(at);
  }
}

void PodCounts::Add(uint32_t row, std::span<const PodCountChange> changes, int64_t factor) {
  if (changes.size() <= kFewChanges) {
    for (const PodCountChange& change : changes) {
      if (change.change != 0) AddOne(row, {change.count, change.change * factor});
    }
    return;
  }
  std::vector<Entry> merged;
  merged.reserve(entries_.size() + changes.size());
  auto known = entries_.begin();
  for (const PodCountChange& change : changes) {
    Entry entry{.count = change.count, .row = row, .value = change.change * factor};
    for (; known != entries_.end() && PlaceOf(*known) < PlaceOf(entry); ++known) {
      merged.push_back(*known);
    }
    if (known != entries_.end() && PlaceOf(*known) == PlaceOf(entry)) {
      entry.value += (known++)->value;
    }
    if (entry.value != 0) merged.push_back(entry);
  }
  merged.insert(merged.end(), known, entries_.end());
  entries_ = std::move(merged);
}

bool LooksAtCount(const ShapeTerms& terms, PodCountId count) {
  const auto is_it = [count](const auto& looked_at) { return looked_at.count == count; };
  return (!terms.near_keys.empty() && terms.near == count) ||
         std::ranges::any_of(terms.apart, is_it) || std::ranges::any_of(terms.kept_away, is_it) ||
         std::ranges::any_of(terms.spread, is_it);
}

}  // namespace maniple
