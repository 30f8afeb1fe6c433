#include "scheduler/cycle/domains/bin_choice.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

namespace maniple {
namespace {

// Limits on choices of bins that are looked at one by one, and on steps of a packing.
constexpr int64_t kMostChoices = 2'000;
constexpr int64_t kMostSteps = 20'000;

// The number of choices of `few` among `all`, as far as that matters.
int64_t Choices(int64_t all, int64_t few) {
  int64_t choices = 1;
  for (int64_t i = 1; i <= std::min(few, all - few); ++i) {
    choices = choices * (all - i + 1) / i;
    if (choices > kMostChoices) return kMostChoices + 1;
  }
  return few > all ? 0 : choices;
}

class BinChooser final {
 public:
  using Set = std::vector<uint32_t>;
  BinChooser(std::span<const Bin> bins, absl::FunctionRef<bool(const Set&)> fits)
      : bins_(bins), fits_(fits) {
    for (uint32_t i = 0; i < bins.size(); ++i) (bins[i].held ? held_ : free_).push_back(i);
    std::ranges::stable_sort(free_, std::greater<>(), [this](uint32_t i) { return bins_[i].room; });
  }

  std::vector<Set> Run(BinRoom how) {
    if (!Fits(free_.size())) return {};
    size_t few = 0, enough = free_.size();
    while (few < enough) {
      const size_t middle = few + (enough - few) / 2;
      if (Fits(middle)) {
        enough = middle;
      } else {
        few = middle + 1;
      }
    }
    switch (how) {
      case BinRoom::kAddsUp:
        break;
      case BinRoom::kMayNot:
        for (size_t fewer = 0; fewer < enough; ++fewer) {
          if (!Enumerable(fewer)) break;
          if (std::vector<Set> found = All(fewer); !found.empty()) return found;
        }
        break;
    }
    if (Enumerable(enough)) return All(enough);
    return {Tightened(enough)};
  }

 private:
  [[nodiscard]] bool Enumerable(size_t few) const {
    return Choices(static_cast<int64_t>(free_.size()), static_cast<int64_t>(few)) <= kMostChoices;
  }
  [[nodiscard]] Set With(std::span<const uint32_t> chosen) const {
    Set set = held_;
    set.insert(set.end(), chosen.begin(), chosen.end());
    std::ranges::sort(set);
    return set;
  }
  [[nodiscard]] bool Fits(size_t largest) const {
    return fits_(With(std::span(free_).first(largest)));
  }

  // Every choice of so many that fits and has the least room.
  [[nodiscard]] std::vector<Set> All(size_t few) const {
    std::vector<Set> best;
    int64_t least = 0;
    std::vector<size_t> at(few);
    std::iota(at.begin(), at.end(), 0);
    while (true) {
      Set chosen;
      int64_t room = 0;
      for (const size_t i : at) {
        chosen.push_back(free_[i]);
        room += bins_[free_[i]].room;
      }
      if (best.empty() || room <= least) {
        Set set = With(chosen);
        if (fits_(set)) {
          if (best.empty() || room < least) best.clear();
          least = room;
          best.push_back(std::move(set));
        }
      }
      size_t i = few;
      while (i > 0 && at[i - 1] == free_.size() - few + i - 1) --i;
      if (i == 0) break;
      ++at[i - 1];
      for (; i < few; ++i) at[i] = at[i - 1] + 1;
    }
    std::ranges::sort(best);
    if (best.size() > kMostTies) best.resize(kMostTies);
    return best;
  }

  // The largest bins, each exchanged for the smallest that does,
  // beginning with the smallest of them.
  [[nodiscard]] Set Tightened(size_t few) const {
    Set chosen(free_.begin(), free_.begin() + static_cast<ptrdiff_t>(few));
    size_t end = free_.size();  // the places in free_ that are left to choose from
    for (size_t i = few; i-- > 0;) {
      size_t low = i, high = end;  // the last place that fits is in [low, high)
      // No smaller bin is left: the last of its equals is as good.
      if (RoomAt(low) == RoomAt(end - 1)) low = end - 1;
      while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        chosen[i] = free_[middle];
        if (fits_(With(chosen))) {
          low = middle;
        } else {
          high = middle;
        }
      }
      chosen[i] = free_[low];
      end = low;
    }
    // Of bins with equal room the first ones, if they do as well.
    std::map<int64_t, size_t> by_room;
    for (const uint32_t bin : chosen) ++by_room[bins_[bin].room];
    Set first;
    for (const uint32_t bin : free_) {
      const auto at = by_room.find(bins_[bin].room);
      if (at == by_room.end() || at->second == 0) continue;
      --at->second;
      first.push_back(bin);
    }
    for (const Set& set : {With(first), With(chosen)}) {
      if (fits_(set)) return set;
    }
    return With(std::span(free_).first(few));
  }
  [[nodiscard]] int64_t RoomAt(size_t place) const { return bins_[free_[place]].room; }

  std::span<const Bin> bins_;
  absl::FunctionRef<bool(const Set&)> fits_;
  Set held_;
  Set free_;  // by room, the largest first
};

// The items that are not of the largest size are tried in the bins; the largest are counted.
class Packer final {
 public:
  Packer(std::span<const PackItem> items, std::span<const int64_t> room)
      : items_(items), room_(room.begin(), room.end()), bin_of_(items.size(), 0) {}

  Packing Run() {
    using Answer = Packing::Answer;
    int64_t pods = 0;
    for (uint32_t i = 0; i < items_.size(); ++i) {
      pods += items_[i].pods;
      largest_ = std::max(largest_, items_[i].bound_to.has_value() ? 0 : items_[i].pods);
    }
    if (pods > std::accumulate(room_.begin(), room_.end(), int64_t{0})) return {};
    for (uint32_t i = 0; i < items_.size(); ++i) {
      const std::optional<uint32_t> bin = items_[i].bound_to;
      if (bin.has_value()) {
        if (*bin >= room_.size() || (room_[*bin] -= items_[i].pods) < 0) return {};
        bin_of_[i] = *bin;
      } else {
        (items_[i].pods == largest_ ? whole_ : others_).push_back(i);
      }
    }
    std::ranges::stable_sort(others_, std::greater<>(),
                             [this](uint32_t i) { return items_[i].pods; });
    if (!Descend(0)) {
      return {.answer = steps_left_ < 0 ? Answer::kGaveUp : Answer::kDoesNotFit, .bin_of = {}};
    }
    uint32_t bin = 0;
    for (const uint32_t item : whole_) {
      while (room_[bin] < largest_) ++bin;
      room_[bin] -= largest_;
      bin_of_[item] = bin;
    }
    return {.answer = Answer::kFits, .bin_of = std::move(bin_of_)};
  }

 private:
  [[nodiscard]] bool WholeOnesFit() const {
    int64_t left = static_cast<int64_t>(whole_.size());
    for (const int64_t room : room_) {
      if (left <= 0) break;
      left -= room / largest_;
    }
    return left <= 0;
  }

  bool Descend(size_t at) {
    if (!whole_.empty() && !WholeOnesFit()) return false;
    if (at == others_.size()) return true;
    const int64_t pods = items_[others_[at]].pods;
    // Bins first where the item costs no item of the largest size,
    // and leaves the least unusable room.
    std::vector<std::tuple<bool, int64_t, uint32_t>> bins;
    for (uint32_t bin = 0; bin < room_.size(); ++bin) {
      if (room_[bin] < pods) continue;
      const int64_t rest = room_[bin] % largest_;
      bins.emplace_back(rest < pods, rest < pods ? room_[bin] : rest - pods, bin);
    }
    std::ranges::sort(bins);
    std::vector<int64_t> tried;
    for (const auto& [costs, rest, bin] : bins) {
      if (--steps_left_ < 0) return false;
      if (std::ranges::find(tried, room_[bin]) != tried.end()) continue;
      tried.push_back(room_[bin]);
      room_[bin] -= pods;
      bin_of_[others_[at]] = bin;
      if (Descend(at + 1)) return true;
      room_[bin] += pods;
    }
    return false;
  }

  std::span<const PackItem> items_;
  std::vector<int64_t> room_;
  std::vector<uint32_t> bin_of_;
  int64_t largest_ = 0;
  std::vector<uint32_t> whole_, others_;
  int64_t steps_left_ = kMostSteps;
};

}  // namespace

std::vector<std::vector<uint32_t>> FewestBins(
    std::span<const Bin> bins, BinRoom how,
    absl::FunctionRef<bool(const std::vector<uint32_t>&)> fits) {
  return BinChooser(bins, fits).Run(how);
}

Packing Pack(std::span<const PackItem> items, std::span<const int64_t> room) {
  return Packer(items, room).Run();
}

int64_t MostPacked(std::span<const PackItem> items, std::span<const int64_t> room) {
  int64_t pods = 0, largest = 0;
  for (const PackItem& item : items) {
    pods += item.pods;
    largest = std::max(largest, item.pods);
  }
  if (largest == 0) return 0;
  // As if all items were of the largest size: each further item in a bin adds
  // no more than the last.
  auto left = static_cast<int64_t>(items.size());
  int64_t packed = 0;
  std::vector<int64_t> rests;
  for (const int64_t bin : room) {
    const int64_t whole = std::min(left, std::max<int64_t>(0, bin) / largest);
    left -= whole;
    packed += whole * largest;
    rests.push_back(std::max<int64_t>(0, bin) % largest);
  }
  std::ranges::sort(rests, std::greater<>());
  for (size_t i = 0; i < rests.size() && left > 0; ++i, --left) packed += rests[i];
  return std::min(pods, packed);
}

}  // namespace maniple
