#include "scheduler/cycle/domains/sliced_nodes.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace maniple {
namespace {

// The number of spreads of the short slices over the domains up to which all are looked at.
constexpr int64_t kMostSpreads = 512;

// The best sum of scores for so many pods in one domain: concave, since the best nodes are taken
// first.
class ScoreOfPods final {
 public:
  explicit ScoreOfPods(std::vector<RankedNode>& nodes) {
    std::ranges::sort(nodes, RanksBefore);
    for (const RankedNode& node : nodes) {
      const int64_t pods = pods_.empty() ? 0 : pods_.back();
      const int64_t sum = sums_.empty() ? 0 : sums_.back();
      pods_.push_back(pods + node.room.pods);
      sums_.push_back(sum + node.score * node.room.pods);
      scores_.push_back(node.score);
    }
  }
  [[nodiscard]] int64_t Of(int64_t pods) const {
    if (pods == 0) return 0;
    const auto at = static_cast<size_t>(std::ranges::lower_bound(pods_, pods) - pods_.begin());
    CHECK_LT(at, pods_.size());
    const int64_t before = at == 0 ? 0 : pods_[at - 1];
    return (at == 0 ? 0 : sums_[at - 1]) + scores_[at] * (pods - before);
  }

 private:
  std::vector<int64_t> pods_, sums_, scores_;
};

// One way to give slices to domains, scored.
class Spread final {
 public:
  Spread(const SliceDemand& demand, SliceBins& bins) : demand_(demand), bins_(bins) {
    for (std::vector<RankedNode>& nodes : bins.nodes) scores_.emplace_back(nodes);
    for (uint32_t i = 0; i < demand.slices.size(); ++i) {
      if (!demand.slices[i].bound_to.has_value()) largest_ = std::max(largest_, PodsOf(i));
    }
    for (uint32_t i = 0; i < demand.slices.size(); ++i) {
      const bool free = !demand.slices[i].bound_to.has_value();
      (!free ? bound_ : PodsOf(i) == largest_ ? whole_ : short_).push_back(i);
    }
  }

  // The best of all spreads of the short slices, if these are few; else the packed one.
  std::vector<uint32_t> Best() {
    const Packing packed = PackSlices(demand_, bins_.domains, bins_.room);
    CHECK(packed.answer == Packing::Answer::kFits) << "slices do not fit";
    best_ = packed.bin_of;
    best_score_ = Score(best_);
    int64_t spreads = 1;
    for (size_t i = 0; i < short_.size() && spreads <= kMostSpreads; ++i) {
      spreads *= static_cast<int64_t>(bins_.room.size());
    }
    std::vector<uint32_t> bin_of = packed.bin_of;
    if (spreads <= kMostSpreads) {
      TryShort(0, bin_of);
    } else {
      PlaceWhole(bin_of);
    }
    return best_;
  }
  [[nodiscard]] int64_t score() const { return best_score_; }

 private:
  [[nodiscard]] int64_t PodsOf(uint32_t slice) const {
    return static_cast<int64_t>(demand_.slices[slice].wants.size());
  }
  [[nodiscard]] int64_t Score(const std::vector<uint32_t>& bin_of) const {
    std::vector<int64_t> pods(bins_.room.size(), 0);
    for (uint32_t i = 0; i < bin_of.size(); ++i) pods[bin_of[i]] += PodsOf(i);
    int64_t score = 0;
    for (size_t bin = 0; bin < pods.size(); ++bin) score += scores_[bin].Of(pods[bin]);
    return score;
  }

  void TryShort(size_t at, std::vector<uint32_t>& bin_of) {
    if (at == short_.size()) {
      PlaceWhole(bin_of);
      return;
    }
    for (uint32_t bin = 0; bin < bins_.room.size(); ++bin) {
      bin_of[short_[at]] = bin;
      TryShort(at + 1, bin_of);
    }
  }

  // The other slices stay where they are; each whole slice goes where it adds most to the score.
  void PlaceWhole(std::vector<uint32_t>& bin_of) {
    std::vector<int64_t> pods(bins_.room.size(), 0);
    for (const std::vector<uint32_t>* fixed : {&bound_, &short_}) {
      for (const uint32_t slice : *fixed) pods[bin_of[slice]] += PodsOf(slice);
    }
    for (size_t bin = 0; bin < pods.size(); ++bin) {
      if (pods[bin] > bins_.room[bin]) return;
    }
    struct Gain {
      int64_t score;
      uint32_t bin;
    };
    const auto behind = [](const Gain& a, const Gain& b) {
      return a.score != b.score ? a.score < b.score : a.bin > b.bin;
    };
    std::vector<Gain> gains;
    const auto offer = [&](uint32_t bin) {
      if (pods[bin] + largest_ > bins_.room[bin]) return;
      gains.push_back({scores_[bin].Of(pods[bin] + largest_) - scores_[bin].Of(pods[bin]), bin});
      std::ranges::push_heap(gains, behind);
    };
    if (!whole_.empty()) {
      for (uint32_t bin = 0; bin < pods.size(); ++bin) offer(bin);
    }
    for (const uint32_t slice : whole_) {
      if (gains.empty()) return;
      std::ranges::pop_heap(gains, behind);
      const uint32_t bin = gains.back().bin;
      gains.pop_back();
      pods[bin] += largest_;
      bin_of[slice] = bin;
      offer(bin);
    }
    const int64_t score = Score(bin_of);
    if (score <= best_score_) return;
    best_score_ = score;
    best_ = bin_of;
  }

  const SliceDemand& demand_;
  SliceBins& bins_;
  std::vector<ScoreOfPods> scores_;  // by bin
  int64_t largest_ = 0;
  std::vector<uint32_t> bound_, whole_, short_;  // slices
  std::vector<uint32_t> best_;
  int64_t best_score_ = 0;
};

// Slices of one size change places so that ranks go along with the bins.
void KeepRanksTogether(const SliceDemand& demand, const std::vector<uint32_t>& place_of_bin,
                       std::vector<uint32_t>& bin_of) {
  std::vector<uint32_t> slices;
  for (uint32_t i = 0; i < bin_of.size(); ++i) {
    if (!demand.slices[i].bound_to.has_value()) slices.push_back(i);
  }
  std::ranges::stable_sort(slices, {}, [&](uint32_t i) { return demand.slices[i].wants.size(); });
  for (size_t begin = 0, end = 0; begin < slices.size(); begin = end) {
    std::vector<uint32_t> bins;
    while (end < slices.size() &&
           demand.slices[slices[end]].wants.size() == demand.slices[slices[begin]].wants.size()) {
      bins.push_back(bin_of[slices[end++]]);
    }
    std::ranges::sort(bins, {}, [&](uint32_t bin) { return place_of_bin[bin]; });
    for (size_t i = begin; i < end; ++i) bin_of[slices[i]] = bins[i - begin];
  }
}

}  // namespace

SliceDemand DemandOf(const MemberGroups& groups, std::vector<size_t> wants) {
  SliceDemand demand;
  std::vector<int32_t> place(groups.slices.size(), MemberGroups::kNone);
  for (const size_t want : wants) {
    const int32_t slice = groups.slice_of[want];
    if (slice == MemberGroups::kNone) continue;
    int32_t& at = place[static_cast<size_t>(slice)];
    if (at == MemberGroups::kNone) {
      at = static_cast<int32_t>(demand.slices.size());
      demand.slices.push_back(
          {.wants = {}, .bound_to = groups.slices[static_cast<size_t>(slice)].bound_to});
    }
    demand.slices[static_cast<size_t>(at)].wants.push_back(want);
  }
  demand.wants = std::move(wants);
  return demand;
}

Packing PackSlices(const SliceDemand& demand, std::span<const uint32_t> domains,
                   std::span<const int64_t> room) {
  std::vector<PackItem> items;
  items.reserve(demand.slices.size());
  for (const SliceDemand::Slice& slice : demand.slices) {
    PackItem& item = items.emplace_back();
    item.pods = static_cast<int64_t>(slice.wants.size());
    if (!slice.bound_to.has_value()) continue;
    const auto at = std::ranges::lower_bound(domains, *slice.bound_to);
    if (at == domains.end() || *at != *slice.bound_to) return {};
    item.bound_to = static_cast<uint32_t>(at - domains.begin());
  }
  return Pack(items, room);
}

BestNodes BestOf(std::vector<RankedNode> nodes, int64_t pods) {
  const auto end = nodes.begin() + std::min<int64_t>(pods, static_cast<int64_t>(nodes.size()));
  if (end != nodes.end()) std::nth_element(nodes.begin(), end, nodes.end(), RanksBefore);
  std::sort(nodes.begin(), end, RanksBefore);
  BestNodes best;
  auto last = nodes.begin();
  for (int64_t left = pods; left > 0; ++last) {
    CHECK(last != end) << "room for fewer than " << pods << " pods";
    const auto taken = static_cast<int32_t>(std::min<int64_t>(left, last->room.pods));
    best.score += last->score * taken;
    left -= taken;
  }
  nodes.erase(last, nodes.end());
  best.nodes = ShareOut(std::move(nodes), pods);
  return best;
}

SlicedPlaces BestSlices(const SliceDemand& demand, SliceBins bins) {
  SlicedPlaces result;
  Spread spread(demand, bins);
  std::vector<uint32_t> bin_of = spread.Best();
  result.score = spread.score();
  std::vector<uint32_t> place_of_bin;
  for (const std::vector<RankedNode>& nodes : bins.nodes) {
    uint32_t first = ~uint32_t{0};
    for (const RankedNode& node : nodes) first = std::min(first, node.name_rank);
    place_of_bin.push_back(first);
  }
  KeepRanksTogether(demand, place_of_bin, bin_of);
  std::vector<std::vector<size_t>> wants_in(bins.room.size());
  for (uint32_t i = 0; i < bin_of.size(); ++i) {
    const std::vector<size_t>& wants = demand.slices[i].wants;
    wants_in[bin_of[i]].insert(wants_in[bin_of[i]].end(), wants.begin(), wants.end());
  }
  for (size_t bin = 0; bin < wants_in.size(); ++bin) {
    if (wants_in[bin].empty()) continue;
    const BestNodes best =
        BestOf(std::move(bins.nodes[bin]), static_cast<int64_t>(wants_in[bin].size()));
    for (size_t i = 0; i < best.nodes.size(); ++i) {
      result.places.push_back({.want = wants_in[bin][i], .node = best.nodes[i]});
    }
  }
  std::ranges::sort(result.places);
  return result;
}

}  // namespace maniple
