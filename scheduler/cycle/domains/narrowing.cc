#include "scheduler/cycle/domains/narrowing.h"

#include <algorithm>
#include <utility>

#include "scheduler/cycle/domains/bin_choice.h"
#include "scheduler/cycle/domains/domain_room.h"

namespace maniple {
namespace {

// Limits: choices of several domains of one number and room; such trials in all;
// and rounds of looser choices at one level.
constexpr size_t kMostSetsOfRound = 8;
constexpr int kMostNarrowings = 32;
constexpr int kMostNarrowingRounds = 16;

class Narrowing final {
 public:
  Narrowing(const DomainSearch& ask, const Overlay& overlay, RegionSearch search)
      : ask_(ask),
        overlay_(overlay),
        search_(search),
        least_units_(LeastUnits(ask, *overlay.base().tables)) {
    for (const DomainLevelPtr& level : ask.choice.gang.levels) levels_.push_back(level.get());
    if (ask.choice.gang.slice != nullptr) levels_.push_back(ask.choice.gang.slice.get());
  }

  std::optional<SearchResult> Run(const NodeSet* region, size_t depth) {
    if (depth == levels_.size()) {
      if (--trials_left_ < 0 || overlay_.spent()) return std::nullopt;
      SearchResult found = search_(region);
      if (found.outcome != SearchResult::Outcome::kFound) return std::nullopt;
      return found;
    }
    const DomainLevel& level = *levels_[depth];
    const Rooms rooms = RoomsOf(level, region);
    size_t few = 1;
    int64_t tried = -1;  // of so many domains, all with this much room or less
    for (int round = 0; round < kMostNarrowingRounds && trials_left_ > 0 && !overlay_.spent();
         ++round) {
      const auto sets =
          FewestBins(rooms.bins, BinRoom::kMayNot, [&](const std::vector<uint32_t>& set) {
            const int64_t units = rooms.UnitsIn(set);
            const bool is_new = set.size() > few || (set.size() == few && units > tried);
            return is_new && units >= least_units_ && MayTake(rooms, set);
          });
      if (sets.empty()) break;
      few = sets.front().size();
      tried = rooms.UnitsIn(sets.front());
      for (size_t i = 0; i < std::min(kMostSetsOfRound, sets.size()); ++i) {
        const NodeSet nodes = Union(level, rooms.bins, sets[i], region);
        if (auto found = Run(&nodes, depth + 1)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  // The room of one level within a region.
  struct Rooms {
    std::vector<Bin> bins;
    std::vector<std::vector<int64_t>> limits;  // by bin, then kind

    [[nodiscard]] int64_t UnitsIn(const std::vector<uint32_t>& set) const {
      int64_t units = 0;
      for (const uint32_t bin : set) units += bins[bin].room;
      return units;
    }
  };
  Rooms RoomsOf(const DomainLevel& level, const NodeSet* region) const {
    std::vector<bool> held(level.paths.size(), false);
    for (const Pinned& member : ask_.pinned) {
      if (!overlay_.base().HasNode(member.node)) continue;
      const uint32_t domain = level.DomainOf(member.node);
      if (domain != DomainLevel::kOutside) held[domain] = true;
    }
    Rooms rooms;
    for (DomainRoom& room : RoomByDomain(ask_, level, overlay_, region)) {
      const bool some = std::ranges::any_of(room.limits, [](int64_t limit) { return limit > 0; });
      if (!some && !held[room.domain]) continue;
      rooms.bins.push_back({.domain = room.domain, .room = room.units, .held = held[room.domain]});
      rooms.limits.push_back(std::move(room.limits));
    }
    return rooms;
  }
  [[nodiscard]] bool MayTake(const Rooms& rooms, const std::vector<uint32_t>& set) const {
    std::vector<int64_t> together(ask_.kinds.size(), 0);
    for (const uint32_t bin : set) {
      for (size_t k = 0; k < together.size(); ++k) together[k] += rooms.limits[bin][k];
    }
    return !ProvenShortage(ask_.problem, together).has_value();
  }
  NodeSet Union(const DomainLevel& level, const std::vector<Bin>& bins,
                const std::vector<uint32_t>& set, const NodeSet* region) const {
    NodeSet nodes(overlay_.block_count());
    for (const uint32_t bin : set) {
      const NodeSet some = level.NodesOf(overlay_.base(), bins[bin].domain);
      for (size_t b = 0; b < nodes.size(); ++b) nodes[b] |= some[b];
    }
    for (size_t b = 0; region != nullptr && b < nodes.size(); ++b) nodes[b] &= (*region)[b];
    return nodes;
  }

  const DomainSearch& ask_;
  const Overlay& overlay_;
  RegionSearch search_;
  int64_t least_units_;
  std::vector<const DomainLevel*> levels_;
  int trials_left_ = kMostNarrowings;
};

}  // namespace

std::optional<SearchResult> Narrow(const DomainSearch& ask, const Overlay& overlay,
                                   const NodeSet* region, size_t depth, RegionSearch search) {
  return Narrowing(ask, overlay, search).Run(region, depth);
}

}  // namespace maniple
