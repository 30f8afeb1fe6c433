#include "scheduler/cycle/domain_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "scheduler/cycle/bin_choice.h"
#include "scheduler/cycle/counted_search.h"
#include "scheduler/cycle/grouped_search.h"
#include "scheduler/cycle/implied_domain.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// Domains that pass the count but not the search, before a level is given up; choices of several
// domains of one number that are tried, and such trials in all.
constexpr int kMostTrials = 16;
constexpr size_t kMostSets = 8;
constexpr int kMostNarrowings = 32;
constexpr int kMostRounds = 16;

SearchResult SearchWithin(const DomainSearch& ask, Overlay& overlay, const NodeSet* within,
                          SearchGoal goal) {
  const bool free = ask.groups.empty() && ask.choice.sub_groups.empty();
  switch (ask.scope) {
    case DecideScope::kSurplus:
      return free ? PlaceSurplus(ask.problem, ask.kinds, overlay, within)
                  : PlaceSurplusOfGroups(ask, overlay, within);
    case DecideScope::kQuorum:
      break;
  }
  if (!free) return PlaceGroups(ask, overlay, within);
  switch (goal) {
    case SearchGoal::kNodes:
      return PlaceQuorum(ask.problem, ask.kinds, overlay, within);
    case SearchGoal::kAnswerOnly:
      return CouldPlaceQuorum(ask.problem, ask.kinds, overlay, within);
  }
  return {};
}

// Room in one domain, by count.
struct DomainRoom {
  uint32_t domain = 0;
  std::vector<int64_t> limits;  // per kind
  bool takes_all = true;
  int64_t units = 0;  // that the gang can use any of: GPUs, or members of all kinds
};

// The one resource of GPUs that its kinds want; none: several, or no GPU.
std::optional<ResourceId> GpusOf(const DomainSearch& ask, const Tables& tables) {
  std::optional<ResourceId> gpus;
  for (const Kind& kind : ask.kinds) {
    if (kind.bound == nullptr) continue;
    for (const auto& [resource, amount] : kind.bound->shape().requests) {
      if (!tables.resources[resource.index()].gpu) continue;
      if (gpus.has_value() && *gpus != resource) return std::nullopt;
      gpus = resource;
    }
  }
  return gpus;
}

// Adds up what is free on nodes, each once.
class FreeGpus final {
 public:
  FreeGpus(const Overlay& overlay, ResourceId resource)
      : overlay_(overlay), resource_(resource), seen_(overlay.block_count()) {}

  int64_t TakeOf(NodeId node) {
    NodeMask& seen = seen_[BlockOf(node)];
    if (seen.Test(RowOf(node))) return 0;
    seen.Set(RowOf(node));
    const NodeView view = overlay_.At(node);
    return std::max<int64_t>(0, view.block.Free(resource_)[view.row]);
  }

 private:
  const Overlay& overlay_;
  ResourceId resource_;
  NodeSet seen_;
};

// `within` null: of all nodes.
std::vector<DomainRoom> RoomByDomain(const DomainSearch& ask, const DomainLevel& level,
                                     const Overlay& overlay, const NodeSet* within) {
  std::vector<DomainRoom> rooms(level.paths.size());
  for (uint32_t d = 0; d < rooms.size(); ++d) {
    rooms[d].domain = d;
    rooms[d].limits.assign(ask.kinds.size(), 0);
  }
  std::optional<FreeGpus> gpus;
  if (const auto resource = GpusOf(ask, *overlay.base().tables)) gpus.emplace(overlay, *resource);
  for (size_t k = 0; k < ask.kinds.size(); ++k) {
    if (ask.kinds[k].bound == nullptr) continue;
    const bool counts_gpus = gpus.has_value() && ask.kinds[k].bound->shape().wants_gpu;
    const auto add = [&](const NodeRoom& room) {
      const uint32_t domain = level.domain_of[room.node.index()];
      if (domain == DomainLevel::kOutside || room.pods <= 0) return;
      rooms[domain].limits[k] += room.pods;
      if (!gpus.has_value()) rooms[domain].units += room.pods;
      if (counts_gpus) rooms[domain].units += gpus->TakeOf(room.node);
    };
    BoundShape& bound = *ask.kinds[k].bound;
    if (bound.bounds_prove()) {
      bound.RankedOn(overlay, within).ForEach(add);
    } else {
      for (const NodeRoom& room : bound.AtMostOn(overlay, within).nodes) add(room);
    }
  }
  for (uint32_t k = 0; k < ask.kinds.size(); ++k) {
    const int64_t count = ask.problem.CountOf(k);
    for (DomainRoom& room : rooms) {
      room.takes_all = room.takes_all && room.limits[k] >= count;
    }
  }
  return rooms;
}

// What is missing in a domain, by count alone; none when the search has to tell.
std::optional<Shortage> ShortageIn(const DomainSearch& ask, const DomainRoom& room) {
  switch (ask.scope) {
    case DecideScope::kQuorum:
      return ProvenShortage(ask.problem, room.limits);
    case DecideScope::kSurplus:
      break;
  }
  const bool some =
      std::any_of(room.limits.begin(), room.limits.end(), [](int64_t limit) { return limit > 0; });
  if (some) return std::nullopt;
  const uint32_t kind = ask.problem.kinds.front();
  return Shortage{.kind = kind, .wanted = ask.problem.CountOf(kind), .placeable = 0};
}

// The domains of one level, one after the other.
class LevelSearch final {
 public:
  LevelSearch(const DomainSearch& ask, const DomainLevel& level, Overlay& overlay, SearchGoal goal)
      : ask_(ask), level_(level), overlay_(overlay), goal_(goal) {}

  DomainResult Run() {
    result_.domains = static_cast<int64_t>(level_.paths.size());
    result_.search.outcome = Outcome::kProven;
    std::vector<DomainRoom> rooms = RoomByDomain(ask_, level_, overlay_, nullptr);
    const std::optional<uint32_t> bound_to = DomainOfPinned(overlay_.base(), level_, ask_.pinned);
    if (bound_to.has_value()) {
      std::erase_if(rooms, [&](const DomainRoom& room) { return room.domain != *bound_to; });
    }
    std::vector<DomainRoom> candidates;
    for (DomainRoom& room : rooms) {
      const std::optional<Shortage> shortage = ShortageIn(ask_, room);
      if (shortage.has_value()) {
        NoteMiss(room.domain, *shortage);
      } else {
        candidates.push_back(std::move(room));
      }
    }
    const auto order = [](const DomainRoom& room) {
      return std::make_tuple(!room.takes_all, room.units, room.domain);
    };
    std::sort(candidates.begin(), candidates.end(),
              [&order](const DomainRoom& a, const DomainRoom& b) { return order(a) < order(b); });
    if (!Try(candidates) && best_.has_value()) {
      result_.best = level_.NodesOf(overlay_.base(), *best_);
      result_.best_path = level_.paths[*best_];
    }
    return std::move(result_);
  }

 private:
  bool Try(const std::vector<DomainRoom>& candidates) {
    int trials = 0;
    for (const DomainRoom& room : candidates) {
      if (++trials > kMostTrials) {
        result_.search.outcome = Outcome::kGaveUp;
        return false;
      }
      const NodeSet within = level_.NodesOf(overlay_.base(), room.domain);
      SearchResult found = SearchWithin(ask_, overlay_, &within, goal_);
      if (found.outcome == Outcome::kFound) {
        result_.search = std::move(found);
        result_.paths = {level_.paths[room.domain]};
        return true;
      }
      if (found.outcome == Outcome::kGaveUp) result_.search.outcome = Outcome::kGaveUp;
      NoteMiss(room.domain, found.shortage);
    }
    return false;
  }

  // Keeps the domain that lacks least.
  void NoteMiss(uint32_t domain, const Shortage& shortage) {
    const auto lack = [](const Shortage& s) { return s.wanted - s.placeable; };
    if (best_.has_value() && lack(result_.search.shortage) <= lack(shortage)) return;
    best_ = domain;
    result_.search.shortage = shortage;
  }

  const DomainSearch& ask_;
  const DomainLevel& level_;
  Overlay& overlay_;
  SearchGoal goal_;
  DomainResult result_;
  std::optional<uint32_t> best_;
};

// What members of one kind take of the units of a domain.
int64_t UnitsOf(const Kind& kind, std::optional<ResourceId> gpus) {
  if (!gpus.has_value()) return 1;
  if (kind.bound == nullptr) return 0;
  for (const auto& [resource, amount] : kind.bound->shape().requests) {
    if (resource == *gpus) return amount;
  }
  return 0;
}

// The least that any quorum takes.
int64_t LeastUnits(const DomainSearch& ask, std::optional<ResourceId> gpus) {
  std::vector<int64_t> units;
  for (const uint32_t kind : ask.problem.kinds) units.push_back(UnitsOf(ask.kinds[kind], gpus));
  std::ranges::sort(units);
  units.resize(
      std::min(units.size(), static_cast<size_t>(std::max<int64_t>(0, ask.problem.total))));
  return std::accumulate(units.begin(), units.end(), int64_t{0});
}

// A gang that fits into a region, in as few domains of it as are found, and with as little left
// over in these.
class Narrowing final {
 public:
  Narrowing(const DomainSearch& ask, Overlay& overlay)
      : ask_(ask),
        overlay_(overlay),
        least_units_(LeastUnits(ask, GpusOf(ask, *overlay.base().tables))) {
    for (const DomainLevelPtr& level : ask.choice.gang.levels) levels_.push_back(level.get());
    if (ask.choice.gang.slice != nullptr) levels_.push_back(ask.choice.gang.slice.get());
  }

  // From the level `depth` on down to the narrowest, the slices' last. Null: nothing was found.
  std::optional<SearchResult> Run(const NodeSet* region, size_t depth) {
    if (depth == levels_.size()) {
      if (--trials_left_ < 0) return std::nullopt;
      SearchResult found = SearchWithin(ask_, overlay_, region, SearchGoal::kNodes);
      if (found.outcome != Outcome::kFound) return std::nullopt;
      return found;
    }
    const DomainLevel& level = *levels_[depth];
    const Rooms rooms = RoomsOf(level, region);
    size_t few = 1;
    int64_t tried = -1;  // of so many domains, all with this much room or less
    for (int round = 0; round < kMostRounds && trials_left_ > 0; ++round) {
      const auto sets =
          FewestBins(rooms.bins, BinRoom::kMayNot, [&](const std::vector<uint32_t>& set) {
            const int64_t units = rooms.UnitsIn(set);
            const bool is_new = set.size() > few || (set.size() == few && units > tried);
            return is_new && units >= least_units_ && MayTake(rooms, set);
          });
      if (sets.empty()) break;
      few = sets.front().size();
      tried = rooms.UnitsIn(sets.front());
      for (size_t i = 0; i < std::min(kMostSets, sets.size()); ++i) {
        const NodeSet nodes = Union(level, rooms.bins, sets[i], region);
        if (auto found = Run(&nodes, depth + 1)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  // Of one level within a region.
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
  Overlay& overlay_;
  int64_t least_units_;
  std::vector<const DomainLevel*> levels_;
  int trials_left_ = kMostNarrowings;
};

// The domains of the level that the places are in; empty when some are in none.
std::vector<std::string> PathsOf(const DomainLevel& level, const std::vector<MemberPlace>& places) {
  std::set<uint32_t> domains;
  for (const MemberPlace& place : places) domains.insert(level.DomainOf(place.node));
  if (domains.contains(DomainLevel::kOutside)) return {};
  std::vector<std::string> paths;
  for (const uint32_t domain : domains) paths.push_back(level.paths[domain]);
  return paths;
}

DomainResult SearchByTrial(const DomainSearch& ask, Overlay& overlay, SearchGoal goal) {
  DomainResult result;
  const DomainWish& wish = ask.choice.gang;
  const bool narrows = goal == SearchGoal::kNodes && ask.scope == DecideScope::kQuorum;
  for (size_t depth = wish.levels.size(); depth-- > 0;) {
    result = LevelSearch(ask, *wish.levels[depth], overlay, goal).Run();
    if (result.search.outcome != Outcome::kFound) continue;
    const bool deeper = depth + 1 < wish.levels.size() || wish.slice != nullptr;
    if (narrows && deeper && !result.search.places.empty()) {
      const uint32_t domain = wish.levels[depth]->DomainOf(result.search.places.front().node);
      const NodeSet region = wish.levels[depth]->NodesOf(overlay.base(), domain);
      auto narrow = Narrowing(ask, overlay).Run(&region, depth + 1);
      if (narrow.has_value()) result.search = *std::move(narrow);
    }
    return result;
  }
  if (wish.required) return result;
  DomainResult anywhere;
  const bool levels = !wish.levels.empty() || wish.slice != nullptr;
  std::optional<SearchResult> few;
  if (narrows && levels) few = Narrowing(ask, overlay).Run(nullptr, 0);
  anywhere.search = few.has_value() ? *std::move(few) : SearchWithin(ask, overlay, nullptr, goal);
  if (levels) {
    const DomainLevelPtr& broadest = wish.levels.empty() ? wish.slice : wish.levels.front();
    anywhere.paths = PathsOf(*broadest, anywhere.search.places);
  }
  return anywhere;
}

// The one kind whose room can be counted for all that is asked.
std::optional<uint32_t> CountedKind(const DomainSearch& ask) {
  const DomainWish& wish = ask.choice.gang;
  if (ask.scope != DecideScope::kQuorum || !ask.choice.sub_groups.empty()) return std::nullopt;
  if (wish.levels.empty() && wish.slice == nullptr) return std::nullopt;
  if (ask.problem.kinds.empty() || ask.problem.kind_count != 1) return std::nullopt;
  const BoundShape* bound = ask.kinds.front().bound;
  return bound != nullptr && bound->counts_prove() ? std::optional<uint32_t>(0) : std::nullopt;
}

// Members that nothing tells apart change places, so that ranks go along with the layout.
void LayOut(const DomainSearch& ask, const NodeLayout& layout, std::vector<MemberPlace>& places) {
  std::map<std::tuple<uint32_t, int32_t, int32_t, int32_t>, std::vector<size_t>> alike;
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t want = places[i].want;
    alike[{ask.problem.kinds[want], ask.problem.wants[want].sub_group, ask.groups.slice_of[want],
           ask.groups.sub_group_of[want]}]
        .push_back(i);
  }
  for (const auto& [what, members] : alike) {
    std::vector<NodeId> nodes;
    for (const size_t i : members) nodes.push_back(places[i].node);
    std::ranges::stable_sort(nodes, {}, [&](NodeId node) { return layout[node.index()]; });
    for (size_t i = 0; i < members.size(); ++i) places[members[i]].node = nodes[i];
  }
}

DomainResult SearchAsAsked(const DomainSearch& ask, Overlay& overlay, SearchGoal goal) {
  if (const std::optional<uint32_t> kind = CountedKind(ask)) {
    return SearchByCount(ask, *kind, overlay, goal);
  }
  DomainResult result = SearchByTrial(ask, overlay, goal);
  if (ask.choice.layout != nullptr) LayOut(ask, *ask.choice.layout, result.search.places);
  return result;
}

// Within one domain more where members want to be near each other, though nobody named it.
DomainResult SearchAll(const DomainSearch& ask, Overlay& overlay, SearchGoal goal) {
  const std::vector<size_t> implied = ImpliedColumns(ask.kinds, overlay);
  if (implied.empty()) return SearchAsAsked(ask, overlay, goal);
  DomainResult last;
  SearchResult search = SearchImplied(ask.problem, ask.kinds, overlay, implied, [&] {
    last = SearchAsAsked(ask, overlay, goal);
    return last.search;
  });
  last.search = std::move(search);
  return last;
}

}  // namespace

DomainResult SearchDomains(const DomainSearch& ask, Overlay& overlay, SearchGoal goal) {
  std::vector<size_t> movable;
  for (size_t i = 0; i < ask.problem.wants.size(); ++i) {
    if (!ask.groups.Stuck(i)) movable.push_back(i);
  }
  if (movable.size() == ask.problem.wants.size()) return SearchAll(ask, overlay, goal);
  const QuorumPart part = PartOf(ask.problem, movable);
  const MemberGroups groups = ask.groups.Of(movable);
  DomainResult result;
  if (movable.empty()) {
    const uint32_t kind = ask.problem.kinds.front();
    result.search.shortage = {.kind = kind, .wanted = ask.problem.CountOf(kind), .placeable = 0};
    return result;
  }
  result = SearchAll({.problem = part.problem,
                      .kinds = ask.kinds,
                      .scope = ask.scope,
                      .choice = ask.choice,
                      .groups = groups,
                      .pinned = ask.pinned},
                     overlay, goal);
  for (MemberPlace& place : result.search.places) place.want = movable[place.want];
  return result;
}

}  // namespace maniple
