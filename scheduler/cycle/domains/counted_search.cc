#include "scheduler/cycle/domains/counted_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "scheduler/cycle/domains/region_use.h"
#include "scheduler/cycle/room/ranked_room.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

constexpr int64_t kMany = std::numeric_limits<int64_t>::max();
constexpr size_t kAllOfThem = std::numeric_limits<size_t>::max();
// The most regions that counting leaves open and a search of member by member tries.
constexpr size_t kMostThorough = 8;

class CountedSearch final {
 public:
  CountedSearch(const DomainSearch& ask, uint32_t kind, Overlay& overlay, SearchGoal goal)
      : ask_(ask),
        wish_(ask.choice.gang),
        kind_(kind),
        overlay_(overlay),
        goal_(goal),
        room_(*ask.kinds[kind].bound, overlay, nullptr) {}

  DomainResult Run() {
    if (!ListDemands()) return std::move(result_);
    if (quorum_.empty()) {  // the quorum needs no member
      result_.search.outcome = Outcome::kFound;
      return std::move(result_);
    }
    regions_.emplace(wish_, ask_.pinned, overlay_.base(), static_cast<int64_t>(quorum_.size()));
    for (size_t level = wish_.levels.size(); level-- > 0;) {
      if (TryLevel(level)) return std::move(result_);
    }
    if (!wish_.required && TryEverywhere()) return std::move(result_);
    TryThoroughly();
    if (result_.search.outcome != Outcome::kFound && wish_.required) NameBest();
    return std::move(result_);
  }

 private:
  // All live members, then the quorum. False: the quota leaves no quorum.
  bool ListDemands() {
    const std::vector<int64_t> no_limit(ask_.problem.kind_count, kMany);
    const auto quorum = SelectQuorum(ask_.problem, no_limit);
    if (!quorum.has_value()) {
      result_.search.shortage = {
          .kind = kind_, .wanted = ask_.problem.CountOf(kind_), .placeable = 0};
      return false;
    }
    quorum_ = *quorum;
    std::vector<size_t> all(ask_.problem.wants.size());
    std::iota(all.begin(), all.end(), 0);
    demands_.push_back(DemandOf(ask_.groups, std::move(all)));
    if (quorum_.size() < ask_.problem.wants.size()) {
      demands_.push_back(DemandOf(ask_.groups, quorum_));
    }
    return true;
  }

  // By domain of the level; null: all nodes as one domain.
  std::vector<DomainCount> CountRoom(const DomainLevel* level) const {
    std::vector<DomainCount> counts(level == nullptr ? 1 : level->paths.size());
    if (wish_.slice == nullptr) {
      room_.ForEach([&](const NodeRoom& room) {
        const uint32_t domain = level == nullptr ? 0 : level->domain_of[room.node.index()];
        if (domain != DomainLevel::kOutside) counts[domain].room += room.pods;
      });
      return counts;
    }
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, int64_t> rooms;
    std::pair<uint32_t, uint32_t> last = {DomainLevel::kOutside, DomainLevel::kOutside};
    int64_t sum = 0;
    const auto flush = [&] {
      if (sum > 0) rooms[last] += sum;
      sum = 0;
    };
    room_.ForEach([&](const NodeRoom& room) {
      const uint32_t domain = level == nullptr ? 0 : level->domain_of[room.node.index()];
      if (domain == DomainLevel::kOutside) return;
      counts[domain].room += room.pods;
      const uint32_t slice = wish_.slice->domain_of[room.node.index()];
      if (slice == DomainLevel::kOutside) return;
      if (const std::pair key{domain, slice}; key != last) {
        flush();
        last = key;
      }
      sum += room.pods;
    });
    flush();
    std::vector<std::pair<std::pair<uint32_t, uint32_t>, int64_t>> sorted(rooms.begin(),
                                                                          rooms.end());
    std::ranges::sort(sorted);
    for (const auto& [key, pods] : sorted) {
      counts[key.first].slice_domains.push_back(key.second);
      counts[key.first].slice_room.push_back(pods);
    }
    return counts;
  }

  // A quorum that fits where slices are cut short, other than the first by rank.
  // In any case, a lower bound on the members that fit.
  [[nodiscard]] std::optional<SliceDemand> OtherQuorum(const DomainCount& count,
                                                       int64_t& placeable) const {
    std::vector<int64_t> room = count.slice_room;
    std::vector<size_t> wants;
    std::vector<const SliceDemand::Slice*> later;
    const auto take = [&](const SliceDemand::Slice& slice, size_t bin, int64_t pods) {
      room[bin] -= pods;
      wants.insert(wants.end(), slice.wants.begin(), slice.wants.begin() + pods);
    };
    // Bound slices have no choice; then come whole ones; then the remaining room of the domains.
    for (const SliceDemand::Slice& slice : demands_.front().slices) {
      if (!slice.bound_to.has_value()) continue;
      const auto at = std::ranges::lower_bound(count.slice_domains, *slice.bound_to);
      if (at == count.slice_domains.end() || *at != *slice.bound_to) continue;
      const auto bin = static_cast<size_t>(at - count.slice_domains.begin());
      take(slice, bin, std::min(room[bin], static_cast<int64_t>(slice.wants.size())));
    }
    for (const SliceDemand::Slice& slice : demands_.front().slices) {
      if (slice.bound_to.has_value()) continue;
      const auto pods = static_cast<int64_t>(slice.wants.size());
      const auto at = std::ranges::find_if(room, [pods](int64_t left) { return left >= pods; });
      if (at == room.end()) {
        later.push_back(&slice);
      } else {
        take(slice, static_cast<size_t>(at - room.begin()), pods);
      }
    }
    for (const SliceDemand::Slice* slice : later) {
      const auto at = std::ranges::max_element(room);
      if (at == room.end() || *at <= 0) break;
      take(*slice, static_cast<size_t>(at - room.begin()),
           std::min(*at, static_cast<int64_t>(slice->wants.size())));
    }
    std::ranges::sort(wants);
    placeable = static_cast<int64_t>(wants.size());
    if (demands_.size() == 1) return std::nullopt;  // all members make the quorum
    const QuorumPart part = PartOf(ask_.problem, wants);
    const auto chosen =
        SelectQuorum(part.problem, std::vector<int64_t>(part.problem.kind_count, kMany));
    if (!chosen.has_value()) return std::nullopt;
    std::vector<size_t> quorum;
    for (const size_t i : *chosen) quorum.push_back(wants[i]);
    SliceDemand demand = DemandOf(ask_.groups, std::move(quorum));
    if (Takes(count, demand) != Packing::Answer::kFits) return std::nullopt;
    return demand;
  }

  // Whether counting proves that no choice of members makes the quorum there.
  [[nodiscard]] bool Hopeless(const DomainCount& count) const {
    const std::vector<int64_t> limits(ask_.problem.kind_count, count.room);
    if (ProvenShortage(ask_.problem, limits).has_value()) return true;
    const SliceDemand& all = demands_.front();
    if (all.slices.empty()) return false;
    if (demands_.size() == 1) return Takes(count, all) == Packing::Answer::kDoesNotFit;
    std::vector<PackItem> items;
    for (const SliceDemand::Slice& slice : all.slices) {
      items.push_back({.pods = static_cast<int64_t>(slice.wants.size()), .bound_to = {}});
    }
    return MostPacked(items, count.slice_room) < static_cast<int64_t>(quorum_.size());
  }

  // Tries the domains of one level, each alone.
  bool TryLevel(size_t depth) {
    const DomainLevel& level = *wish_.levels[depth];
    std::vector<DomainCount> counts = CountRoom(&level);
    result_.domains = static_cast<int64_t>(counts.size());
    missed_.reset();
    const std::optional<uint32_t> bound_to = DomainOfPinned(overlay_.base(), level, ask_.pinned);
    std::vector<uint32_t> candidates;
    for (uint32_t d = 0; d < counts.size(); ++d) {
      if (!bound_to.has_value() || *bound_to == d) candidates.push_back(d);
    }
    for (const SliceDemand& demand : demands_) {
      std::vector<uint32_t> fit;
      for (const uint32_t d : candidates) {
        if (Takes(counts[d], demand) == Packing::Answer::kFits) fit.push_back(d);
      }
      if (fit.empty()) continue;
      Settle(fit, counts, depth, demand);
      return true;
    }
    // Below the required level a miss is no answer yet.
    const bool last_word = depth == 0 && wish_.required;
    if (demands_.size() == 1 && !last_word) return false;
    std::optional<SliceDemand> other;
    for (const uint32_t d : candidates) {
      int64_t placeable = counts[d].room;
      if (wish_.slice != nullptr) other = OtherQuorum(counts[d], placeable);
      if (other.has_value()) {
        Settle({d}, counts, depth, *other);
        return true;
      }
      if (!last_word) continue;
      NoteMiss(d, counts[d], placeable);
      if (!Hopeless(counts[d])) unproven_.push_back({&level, d});
    }
    return false;
  }

  // Takes the cheapest of the domains that fit.
  void Settle(std::vector<uint32_t> fit, const std::vector<DomainCount>& counts, size_t depth,
              const SliceDemand& demand) {
    const DomainLevel& level = *wish_.levels[depth];
    int64_t least = kMany;
    for (const uint32_t d : fit) least = std::min(least, counts[d].room);
    std::erase_if(fit, [&](uint32_t d) { return counts[d].room != least; });
    result_.search.outcome = Outcome::kFound;
    result_.paths = {level.paths[fit.front()]};
    if (goal_ == SearchGoal::kAnswerOnly) return;
    const bool finer = depth + 1 < wish_.levels.size() || !demand.slices.empty();
    std::vector<std::vector<RankedNode>> nodes =
        NodesBy(level, fit, finer ? kAllOfThem : static_cast<size_t>(regions_->PodsPlaced(demand)));
    std::optional<Outlook> best;
    for (size_t i = 0; i < fit.size(); ++i) {
      Outlook outlook = regions_->Look(std::move(nodes[i]), depth + 1, demand);
      if (best.has_value() && !outlook.CheaperThan(*best)) continue;
      // At equal cost the first in path order stays.
      if (best.has_value() && outlook.cost == best->cost) continue;
      best = std::move(outlook);
      result_.paths = {level.paths[fit[i]]};
    }
    result_.search.places = regions_->Place(*std::move(best), demand, quorum_);
  }

  // Any nodes: the fewest domains of the broadest level, and so on down.
  bool TryEverywhere() {
    const DomainCount count = std::move(CountRoom(nullptr).front());
    std::optional<SliceDemand> chosen;
    for (const SliceDemand& demand : demands_) {
      if (Takes(count, demand) != Packing::Answer::kFits) continue;
      chosen = demand;
      break;
    }
    int64_t placeable = count.room;
    if (!chosen.has_value() && wish_.slice != nullptr) {
      chosen = OtherQuorum(count, placeable);
    }
    if (!chosen.has_value()) {
      missed_.reset();
      NoteMiss(0, count, placeable);
      if (!Hopeless(count)) unproven_.push_back({nullptr, 0});
      return false;
    }
    result_.search.outcome = Outcome::kFound;
    if (goal_ == SearchGoal::kAnswerOnly) return true;
    Outlook outlook = regions_->Look(EveryNode(), 0, *chosen);
    const DomainLevel* broadest =
        wish_.levels.empty() ? wish_.slice.get() : wish_.levels.front().get();
    for (size_t i = 0; i < outlook.broadest; ++i) {
      result_.paths.push_back(broadest->paths[outlook.domains[i]]);
    }
    result_.search.places = regions_->Place(std::move(outlook), *chosen, quorum_);
    return true;
  }

  // The nodes of some domains of a level. Where nothing finer is asked for, only the best of each
  // that could be used. REQUIRES: `domains` ascends.
  [[nodiscard]] std::vector<std::vector<RankedNode>> NodesBy(const DomainLevel& level,
                                                             const std::vector<uint32_t>& domains,
                                                             size_t most) const {
    constexpr uint32_t kNot = ~uint32_t{0};
    std::vector<uint32_t> place(level.paths.size(), kNot);
    for (uint32_t i = 0; i < domains.size(); ++i) place[domains[i]] = i;
    const auto place_of = [&](NodeId node) {
      const uint32_t domain = level.domain_of[node.index()];
      return domain == DomainLevel::kOutside ? kNot : place[domain];
    };
    std::vector<std::vector<RankedNode>> nodes(domains.size());
    room_.ForEachRanked([&](NodeId id) { return place_of(id) != kNot; },
                        [&](const RankedNode& ranked) {
                          const uint32_t at = place_of(ranked.room.node);
                          if (at == kNot) return;
                          const RankedNode node = LaidOut(ranked);
                          std::vector<RankedNode>& best = nodes[at];  // a heap, the worst on top
                          if (best.size() == most) {
                            if (!RanksBefore(node, best.front())) return;
                            std::ranges::pop_heap(best, RanksBefore);
                            best.pop_back();
                          }
                          best.push_back(node);
                          if (most != kAllOfThem) std::ranges::push_heap(best, RanksBefore);
                        });
    return nodes;
  }
  [[nodiscard]] std::vector<RankedNode> EveryNode() const {
    std::vector<RankedNode> nodes;
    room_.ForEachRanked([](NodeId) { return true; },
                        [&](const RankedNode& node) { nodes.push_back(LaidOut(node)); });
    return nodes;
  }
  // Ordered by the layout at equal score, where there is one.
  [[nodiscard]] RankedNode LaidOut(RankedNode node) const {
    const NodeLayout* layout = ask_.choice.layout.get();
    if (layout != nullptr) node.name_rank = (*layout)[node.room.node.index()];
    return node;
  }

  // Keeps the domain that lacks least.
  void NoteMiss(uint32_t domain, const DomainCount& count, int64_t placeable) {
    const auto wanted = static_cast<int64_t>(quorum_.size());
    Shortage shortage{.kind = kind_,
                      .wanted = wanted,
                      .placeable = std::min({placeable, count.room, wanted - 1})};
    if (missed_.has_value() && shortage.placeable <= result_.search.shortage.placeable) return;
    missed_ = domain;
    result_.search.shortage = shortage;
  }

  void NameBest() {
    const DomainLevel& level = *wish_.required_level();
    if (!missed_.has_value()) return;
    result_.best = level.NodesOf(overlay_.base(), *missed_);
    result_.best_path = level.paths[*missed_];
  }

  // Regions that counting neither fills nor rules out.
  void TryThoroughly() {
    result_.search.outcome = Outcome::kProven;
    for (size_t i = 0; i < unproven_.size(); ++i) {
      if (i == kMostThorough || overlay_.spent()) {
        result_.search.outcome = Outcome::kGaveUp;
        return;
      }
      std::optional<NodeSet> within;
      const auto& [level, domain] = unproven_[i];
      if (level != nullptr) within = level->NodesOf(overlay_.base(), domain);
      SearchResult found = PlaceExhaustively(
          ask_.problem, ask_.kinds, overlay_,
          {.within = within.has_value() ? &*within : nullptr, .groups = &ask_.groups},
          SearchBounds{});
      if (found.outcome == Outcome::kFound) {
        result_.search = std::move(found);
        if (level != nullptr) result_.paths = {level->paths[domain]};
        return;
      }
      if (found.outcome == Outcome::kGaveUp) result_.search.outcome = Outcome::kGaveUp;
    }
  }

  const DomainSearch& ask_;
  const DomainWish& wish_;
  uint32_t kind_;
  Overlay& overlay_;
  SearchGoal goal_;
  RankedRoom room_;
  std::vector<size_t> quorum_;        // of wants, by rank
  std::vector<SliceDemand> demands_;  // all members, then the quorum if that is fewer
  std::optional<RegionUse> regions_;  // once the quorum is known
  DomainResult result_;
  std::optional<uint32_t> missed_;
  struct Region {
    const DomainLevel* level;
    uint32_t domain;
  };
  std::vector<Region> unproven_;
};

}  // namespace

DomainResult SearchByCount(const DomainSearch& ask, uint32_t kind, Overlay& overlay,
                           SearchGoal goal) {
  return CountedSearch(ask, kind, overlay, goal).Run();
}

}  // namespace maniple
