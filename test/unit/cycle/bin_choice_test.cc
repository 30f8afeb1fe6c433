// Packing by counting, against all choices one by one. Fears: a choice with more bins or more room
// than needed is taken; a held bin is left out; ties come in an order that is not that of
// positions; a packing breaks a bond or fills a bin twice; giving up is taken for a proof.
#include "scheduler/cycle/domains/bin_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::cycle_bin_choice_test {
namespace {

using Set = std::vector<uint32_t>;
using Fits = std::function<bool(const Set&)>;
using Answer = Packing::Answer;

int64_t Upto(Random& random, uint64_t most) { return static_cast<int64_t>(random.Below(most + 1)); }
int64_t RoomOf(const std::vector<Bin>& bins, const Set& set) {
  int64_t room = 0;
  for (const uint32_t bin : set) room += bins[bin].room;
  return room;
}

// Looks at every set of bins that has the held ones.
std::vector<Set> NaiveFewest(const std::vector<Bin>& bins, const Fits& fits) {
  std::vector<Set> best;
  const auto cost = [&](const Set& set) { return std::pair(set.size(), RoomOf(bins, set)); };
  for (uint32_t chosen = 0; chosen < 1U << bins.size(); ++chosen) {
    Set set;
    bool has_held = true;
    for (uint32_t i = 0; i < bins.size(); ++i) {
      const bool in = (chosen >> i & 1) != 0;
      if (in) set.push_back(i);
      has_held = has_held && (in || !bins[i].held);
    }
    if (!has_held || !fits(set)) continue;
    if (!best.empty() && cost(set) > cost(best.front())) continue;
    if (!best.empty() && cost(set) < cost(best.front())) best.clear();
    best.push_back(set);
  }
  std::ranges::sort(best);
  if (best.size() > kMostTies) best.resize(kMostTies);
  return best;
}

// Where room does not add up, what fits is any set that includes one of some random sets.
TEST(BinChoice, TheFewestBinsWithTheLeastRoomAreThoseOfAllChoices) {
  Random random(1);
  for (int round = 0; round < 1'500; ++round) {
    std::vector<Bin> bins(random.Below(8));
    for (Bin& bin : bins) bin = {.room = Upto(random, 4), .held = random.OneIn(6)};
    const int64_t pods = Upto(random, 12);
    const Fits by_sum = [&](const Set& set) { return RoomOf(bins, set) >= pods; };
    ASSERT_EQ(FewestBins(bins, BinRoom::kAddsUp, by_sum), NaiveFewest(bins, by_sum)) << round;
    std::vector<Set> enough(1 + random.Below(4));
    for (uint32_t i = 0; i < bins.size(); ++i) {
      for (Set& set : enough) {
        if (random.OneIn(2)) set.push_back(i);
      }
    }
    const Fits by_set = [&](const Set& set) {
      return std::ranges::any_of(enough,
                                 [&](const Set& s) { return std::ranges::includes(set, s); });
    };
    ASSERT_EQ(FewestBins(bins, BinRoom::kMayNot, by_set), NaiveFewest(bins, by_set)) << round;
  }
}

TEST(BinChoice, OfMoreTiesThanAreToldTheFirstAre) {
  const std::vector<Bin> bins(8, {.room = 1});
  const Fits fits = [](const Set& set) { return set.size() >= 4; };
  EXPECT_EQ(NaiveFewest(bins, fits).size(), kMostTies);
  EXPECT_EQ(FewestBins(bins, BinRoom::kAddsUp, fits), NaiveFewest(bins, fits));
}

// So many bins that not every choice is looked at.
TEST(BinChoice, OfManyBinsFewAreTakenAndNoneThatASmallerOneCouldReplace) {
  Random random(2);
  for (int round = 0; round < 30; ++round) {
    std::vector<Bin> bins(60);
    for (Bin& bin : bins) bin.room = 1 + Upto(random, 8);
    bins[7] = {.room = 0, .held = true};
    const int64_t pods = 40 + Upto(random, 100);
    const Fits fits = [&](const Set& set) { return RoomOf(bins, set) >= pods; };
    const std::vector<Set> sets = FewestBins(bins, BinRoom::kAddsUp, fits);
    ASSERT_EQ(sets.size(), 1u);
    const auto taken = [&](uint32_t i) { return std::ranges::binary_search(sets[0], i); };
    const int64_t spare = RoomOf(bins, sets[0]) - pods;
    ASSERT_TRUE(taken(7) && spare >= 0);
    for (uint32_t i = 0; i < bins.size(); ++i) {
      for (const uint32_t in : sets[0]) {
        const int64_t saved = bins[in].room - bins[i].room;
        ASSERT_TRUE(taken(i) || saved <= 0 || saved > spare) << i << " would do for " << in;
      }
    }
    std::ranges::sort(bins, std::greater<>(), &Bin::room);
    int64_t most = 0;  // of one bin less
    for (size_t i = 0; i + 2 < sets[0].size(); ++i) most += bins[i].room;
    ASSERT_LT(most, pods);
  }
}

// The most pods that the bins take of the items from `at` on. None: an item that must not be cut
// short does not fit.
enum class Cut : uint8_t { kMay, kMayNot };
std::optional<int64_t> NaivePacked(const std::vector<PackItem>& items, std::vector<int64_t> room,
                                   size_t at, Cut cut) {
  if (at == items.size()) return 0;
  std::optional<int64_t> most;
  for (uint32_t bin = 0; bin < room.size(); ++bin) {
    const int64_t taken = std::min(items[at].pods, room[bin]);
    if (items[at].bound_to.value_or(bin) != bin) continue;
    if (taken < items[at].pods && cut == Cut::kMayNot) continue;
    room[bin] -= taken;
    const std::optional<int64_t> rest = NaivePacked(items, room, at + 1, cut);
    room[bin] += taken;
    if (rest.has_value()) most = std::max(most.value_or(0), taken + *rest);
  }
  return most;
}

struct PackCase {
  explicit PackCase(Random& random) : items(random.Below(6)), room(random.Below(5)) {
    for (PackItem& item : items) item.pods = 1 + Upto(random, 3);
    for (int64_t& pods : room) pods = Upto(random, 7);
  }
  std::vector<PackItem> items;
  std::vector<int64_t> room;
};

TEST(BinChoice, PacksWhateverSomePackingFits) {
  Random random(3);
  for (int round = 0; round < 3'000; ++round) {
    auto [items, room] = PackCase(random);
    for (PackItem& item : items) {
      if (random.OneIn(5)) item.bound_to = static_cast<uint32_t>(random.Below(room.size() + 1));
    }
    const Packing packing = Pack(items, room);
    const bool fits = NaivePacked(items, room, 0, Cut::kMayNot).has_value();
    ASSERT_EQ(packing.answer, fits ? Answer::kFits : Answer::kDoesNotFit) << round;
    for (size_t i = 0; fits && i < items.size(); ++i) {
      const uint32_t bin = packing.bin_of.at(i);
      ASSERT_EQ(items[i].bound_to.value_or(bin), bin) << round;
      ASSERT_GE(room.at(bin) -= items[i].pods, 0) << round;
    }
  }
}

// Items of even sizes leave a place empty in each odd bin, which only trials could tell.
TEST(BinChoice, APackingThatTakesTooManyStepsIsGivenUpAndNotDisproved) {
  std::vector<PackItem> items;
  for (int64_t pods = 2; pods <= 30; pods += 2) items.push_back({.pods = pods});
  EXPECT_EQ(Pack(items, std::vector<int64_t>{21, 31, 41, 45, 47, 57}).answer, Answer::kGaveUp);
}

TEST(BinChoice, NoMoreThanMostPackedIsPackedAndOfEqualItemsExactlyThat) {
  Random random(4);
  for (int round = 0; round < 1'000; ++round) {
    auto [items, room] = PackCase(random);
    const int64_t packed = NaivePacked(items, room, 0, Cut::kMay).value_or(0);
    ASSERT_GE(MostPacked(items, room), packed) << round;
    for (PackItem& item : items) item.pods = items.front().pods;
    const int64_t of_equal = NaivePacked(items, room, 0, Cut::kMay).value_or(0);
    ASSERT_EQ(MostPacked(items, room), of_equal) << round;
  }
}

}  // namespace
}  // namespace maniple::cycle_bin_choice_test
