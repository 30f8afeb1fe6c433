// Counts of pods on the nodes of a block, against a map. Fears: a count that came back to zero
// stays as an entry; few changes are put in otherwise than many; a change reaches another row or
// count; a count that no node has is taken from its neighbour; a preference is taken for a rule.
#include "plugins/framework/pod_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::framework_pod_counts_test {
namespace {

constexpr uint32_t kCounts = 16, kRows = 4;

class Model final {
 public:
  void Add(uint32_t row, const std::vector<PodCountChange>& changes, int64_t factor) {
    for (const PodCountChange& change : changes) {
      values_[{change.count.index(), row}] += change.change * factor;
    }
    std::erase_if(values_, [](const auto& entry) { return entry.second == 0; });
  }
  void ExpectSame(const PodCounts& counts) const {
    ASSERT_EQ(counts.entries().size(), values_.size());
    auto at = counts.entries().begin();
    for (const auto& [place, value] : values_) {
      ASSERT_EQ(std::pair(at->count.index(), at->row), place);
      ASSERT_EQ((at++)->value, value);
    }
    // Beyond the last count as well, and of the invalid one.
    for (uint32_t count = 0; count <= kCounts + 1; ++count) {
      const PodCountId id = count > kCounts ? PodCountId() : PodCountId(count);
      size_t there = 0;
      for (uint32_t row = 0; row < kRows; ++row) {
        const auto known = values_.find({id.index(), row});
        ASSERT_EQ(counts.At(id, row), known == values_.end() ? 0 : known->second);
        if (known != values_.end()) ++there;
      }
      ASSERT_EQ(counts.Of(id).size(), there);
      ASSERT_TRUE(
          std::ranges::all_of(counts.Of(id), [id](const auto& e) { return e.count == id; }));
      ASSERT_TRUE(std::ranges::is_sorted(counts.Of(id), {}, &PodCounts::Entry::row));
    }
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, int64_t> values_;
};

std::vector<PodCountChange> SomeChanges(Random& random) {
  std::vector<PodCountChange> changes;
  const uint64_t sparse = 1 + random.Below(4);
  for (uint32_t count = 0; count < kCounts; ++count) {
    if (!random.OneIn(sparse)) continue;
    changes.push_back({PodCountId(count), static_cast<int64_t>(random.Below(5)) - 2});
  }
  return changes;
}

TEST(PodCounts, AreTheSumsOfAllChangesAndKeepNoZero) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    PodCounts counts;
    Model model;
    for (int step = 0; step < 20; ++step) {
      const std::vector<PodCountChange> changes = SomeChanges(random);
      const auto row = static_cast<uint32_t>(random.Below(kRows));
      const int64_t factor = static_cast<int64_t>(random.Below(7)) - 3;
      if (factor == 0) continue;
      counts.Add(row, changes, factor);
      model.Add(row, changes, factor);
      ASSERT_NO_FATAL_FAILURE(model.ExpectSame(counts)) << round << " " << step;
    }
  }
}

TEST(PodCounts, WhatIsTakenBackLeavesNothing) {
  Random random(2);
  PodCounts counts;
  std::vector<std::pair<uint32_t, std::vector<PodCountChange>>> done;
  for (uint32_t i = 0; i < 40; ++i) {
    done.emplace_back(i % kRows, SomeChanges(random));
    counts.Add(done.back().first, done.back().second, 1);
  }
  for (const auto& [row, changes] : done) counts.Add(row, changes, -1);
  EXPECT_TRUE(counts.entries().empty());
}

TEST(PodCounts, DecideAPlaceByEveryTermButPreferences) {
  const PodCountId near(1), apart(2), kept_away(3), drawn(4), spread(5);
  ShapeTerms terms{
      .near_keys = {}, .near = near, .apart = {}, .kept_away = {}, .drawn = {}, .spread = {}};
  EXPECT_FALSE(LooksAtCount(terms, near)) << "without a key it is no term";
  terms.near_keys = {"zone"};
  terms.apart = {{.count = apart, .topology_key = "zone"}};
  terms.kept_away = {{.count = kept_away, .topology_key = "zone"}};
  terms.drawn = {{.count = drawn, .topology_key = "zone", .weight = 1}};
  terms.spread = {{.constraint = {}, .count = spread}};
  for (const PodCountId count : {near, apart, kept_away, spread}) {
    EXPECT_TRUE(LooksAtCount(terms, count)) << count;
  }
  EXPECT_FALSE(LooksAtCount(terms, drawn));
  EXPECT_FALSE(LooksAtCount(terms, PodCountId(6)));
}

}  // namespace
}  // namespace maniple::framework_pod_counts_test
