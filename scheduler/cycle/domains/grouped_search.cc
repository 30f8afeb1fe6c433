#include "scheduler/cycle/domains/grouped_search.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "scheduler/cycle/domains/narrowing.h"
#include "scheduler/cycle/search/joint_search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// Placements of groups before the trials are given up. After kFirstPlacements and one for each
// group, the search first asks whether the trials can succeed at all.
constexpr int kMostPlacements = 600;
constexpr int kFirstPlacements = 24;

NodeSet Inside(const Snapshot& snapshot, const DomainLevel& level, uint32_t domain,
               const NodeSet* within) {
  NodeSet nodes = level.NodesOf(snapshot, domain);
  if (within == nullptr) return nodes;
  for (size_t b = 0; b < nodes.size(); ++b) nodes[b] &= (*within)[b];
  return nodes;
}

// What the want's sub-group asks for itself; null: nothing, or it is of none.
const DomainWish* OwnWish(const DomainSearch& ask, size_t want) {
  const int32_t sub_group = ask.problem.wants[want].sub_group;
  const auto index = static_cast<size_t>(sub_group);
  if (sub_group < 0 || index >= ask.choice.sub_groups.size()) return nullptr;
  const DomainWish& wish = ask.choice.sub_groups[index];
  return wish.levels.empty() ? nullptr : &wish;
}

// Those of a sub-group.
std::vector<Pinned> StandingOf(std::span<const Pinned> pinned, int32_t sub_group) {
  std::vector<Pinned> standing;
  std::ranges::copy_if(pinned, std::back_inserter(standing),
                       [&](const Pinned& member) { return member.sub_group == sub_group; });
  return standing;
}

// The domains of a level by the room that they have for so many members of each kind.
struct DomainRooms {
  std::vector<uint32_t> enough;  // the tightest first
  std::optional<uint32_t> most;  // the one that takes most of the members, if any takes one
};

// Members of one sub-group, or of none, in the order in which they are placed.
struct Part {
  const DomainWish* wish = nullptr;  // of the sub-group; null: none
  std::vector<Pinned> standing;      // its members that have their nodes already
  std::vector<size_t> wants;
  struct Lump {
    const MemberGroup* slice = nullptr;  // null: members of no slice
    std::vector<size_t> wants;
  };
  std::vector<Lump> lumps;  // the largest slices first
};

class GroupTrial final {
 public:
  GroupTrial(const DomainSearch& ask, Overlay& overlay, const NodeSet* within)
      : ask_(ask), overlay_(overlay), within_(within) {}

  // Places all of the wants, or none.
  std::optional<std::vector<MemberPlace>> Run(const std::vector<size_t>& wants, int placements) {
    const Overlay::Checkpoint start = overlay_.Mark();
    parts_ = PartsOf(wants);
    places_.clear();
    used_.clear();
    placements_left_ = placements;
    const bool found = PlacePart(0);
    overlay_.Rollback(start);
    if (!found) return std::nullopt;
    std::ranges::sort(places_);
    return std::move(places_);
  }

  [[nodiscard]] DomainRooms RoomsIn(const DomainLevel& level, const NodeSet* within,
                                    const std::vector<size_t>& wants) const {
    std::vector<int64_t> counts(ask_.kinds.size(), 0);
    for (const size_t want : wants) ++counts[ask_.problem.kinds[want]];
    std::vector<int64_t> sum(level.paths.size(), 0), takes(level.paths.size(), 0);
    std::vector<bool> enough(level.paths.size(), true);
    for (size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      std::vector<int64_t> rooms(level.paths.size(), 0);
      if (ask_.kinds[k].bound != nullptr) {
        for (const NodeRoom& room : ask_.kinds[k].bound->RoomOn(overlay_, within).nodes) {
          const uint32_t domain = level.DomainOf(room.node);
          if (domain != DomainLevel::kOutside) rooms[domain] += room.pods;
        }
      }
      // Where members bear on each other across nodes, a count neither promises
      // nor forbids anything.
      const bool bounds_prove =
          ask_.kinds[k].bound == nullptr || ask_.kinds[k].bound->bounds_prove();
      for (size_t d = 0; d < rooms.size(); ++d) {
        sum[d] += rooms[d];
        takes[d] += std::min(rooms[d], counts[k]);
        if (rooms[d] < (bounds_prove ? counts[k] : 1)) enough[d] = false;
      }
    }
    DomainRooms answer;
    for (uint32_t d = 0; d < sum.size(); ++d) {
      if (enough[d]) answer.enough.push_back(d);
      if (takes[d] > 0 && (!answer.most.has_value() || takes[d] > takes[*answer.most]))
        answer.most = d;
    }
    // First domains that the gang uses already, so that it spans few.
    std::ranges::stable_sort(answer.enough, {}, [&](uint32_t d) {
      return std::make_pair(std::ranges::find(used_, std::pair(&level, d)) == used_.end(), sum[d]);
    });
    return answer;
  }

 private:
  std::vector<Part> PartsOf(const std::vector<size_t>& wants) const {
    std::map<int32_t, Part> by_sub_group;
    for (const size_t want : wants) {
      const DomainWish* own = OwnWish(ask_, want);
      const int32_t sub_group = ask_.problem.wants[want].sub_group;
      Part& part = by_sub_group[own != nullptr ? sub_group : MemberGroups::kNone];
      part.wish = own;
      part.wants.push_back(want);
    }
    std::vector<Part> parts;
    for (auto& [sub_group, part] : by_sub_group) {
      if (part.wish != nullptr) part.standing = StandingOf(ask_.pinned, sub_group);
      AddLumps(part);
      parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(parts, {}, [](const Part& part) {
      const bool required = part.wish != nullptr && part.wish->required;
      return std::make_tuple(part.wish == nullptr, !required,
                             -static_cast<int64_t>(part.wants.size()));
    });
    return parts;
  }

  void AddLumps(Part& part) const {
    std::map<int32_t, Part::Lump> lumps;
    for (const size_t want : part.wants) {
      const int32_t slice = ask_.groups.slice_of[want];
      Part::Lump& lump = lumps[slice];
      if (slice != MemberGroups::kNone) {
        lump.slice = &ask_.groups.slices[static_cast<size_t>(slice)];
      }
      lump.wants.push_back(want);
    }
    for (auto& [slice, lump] : lumps) part.lumps.push_back(std::move(lump));
    std::ranges::stable_sort(part.lumps, {}, [](const Part::Lump& lump) {
      const bool bound = lump.slice != nullptr && lump.slice->bound_to.has_value();
      return std::make_tuple(lump.slice == nullptr, !bound,
                             -static_cast<int64_t>(lump.wants.size()));
    });
  }

  bool PlacePart(size_t at) {
    if (at == parts_.size()) return true;
    const Part& part = parts_[at];
    if (part.wish == nullptr) return PlaceLump(at, 0, within_);
    for (size_t depth = part.wish->levels.size(); depth-- > 0;) {
      const DomainLevel& level = *part.wish->levels[depth];
      const auto bound_to = DomainOfPinned(overlay_.base(), level, part.standing);
      for (const uint32_t domain : RoomsIn(level, within_, part.wants).enough) {
        if (placements_left_ < 0 || overlay_.spent()) return false;
        if (bound_to.has_value() && *bound_to != domain) continue;
        const NodeSet nodes = Inside(overlay_.base(), level, domain, within_);
        used_.emplace_back(&level, domain);
        if (PlaceInFewest(at, &nodes, depth + 1)) return true;
        used_.pop_back();
      }
    }
    return !part.wish->required && PlaceInFewest(at, within_, 0);
  }

  // In the fewest domains of the levels of its wish from `depth` on, or anywhere in the region.
  bool PlaceInFewest(size_t at, const NodeSet* region, size_t depth) {
    const Part& part = parts_[at];
    if (depth == part.wish->levels.size()) return PlaceLump(at, 0, region);
    const QuorumPart problem = EveryoneOf(part.wants);
    DomainChoice choice;
    choice.gang.levels = part.wish->levels;
    const DomainSearch ask{.problem = problem.problem,
                           .kinds = ask_.kinds,
                           .scope = ask_.scope,
                           .choice = choice,
                           .groups = ask_.groups,
                           .pinned = part.standing};
    const int kept = placements_left_ / 2;  // for places anywhere
    const auto place = [&](const NodeSet* nodes) {
      SearchResult found;
      if (placements_left_ > kept && PlaceLump(at, 0, nodes)) found.outcome = Outcome::kFound;
      return found;
    };
    return Narrow(ask, overlay_, region, depth, place).has_value() || PlaceLump(at, 0, region);
  }

  bool PlaceLump(size_t part, size_t at, const NodeSet* within) {
    if (at == parts_[part].lumps.size()) return PlacePart(part + 1);
    const Part::Lump& lump = parts_[part].lumps[at];
    if (lump.slice == nullptr) return PlaceMembers(part, at, within, within);
    const DomainLevel& level = *lump.slice->level;
    for (const uint32_t domain : RoomsIn(level, within, lump.wants).enough) {
      if (placements_left_ < 0 || overlay_.spent()) return false;
      if (lump.slice->bound_to.has_value() && *lump.slice->bound_to != domain) continue;
      const NodeSet nodes = Inside(overlay_.base(), level, domain, within);
      used_.emplace_back(&level, domain);
      if (PlaceMembers(part, at, &nodes, within)) return true;
      used_.pop_back();
    }
    return false;
  }

  // Places the members of one lump, then all later lumps and parts.
  bool PlaceMembers(size_t part, size_t at, const NodeSet* nodes, const NodeSet* within) {
    if (--placements_left_ < 0 || overlay_.spent()) return false;
    const std::vector<size_t>& wants = parts_[part].lumps[at].wants;
    const QuorumPart problem = EveryoneOf(wants);
    const SearchResult found = TryToPlace(problem.problem, ask_.kinds, overlay_, nodes);
    if (found.outcome != Outcome::kFound) return false;
    const Overlay::Checkpoint before = overlay_.Mark();
    const size_t had = places_.size();
    for (const MemberPlace& place : found.places) {
      const size_t want = wants[place.want];
      overlay_.Place(place.node, ask_.problem.wants[want].shape);
      places_.push_back({.want = want, .node = place.node});
    }
    if (PlaceLump(part, at + 1, within)) return true;
    overlay_.Rollback(before);
    places_.resize(had);
    return false;
  }

  // All of the wants must be placed, whatever they cost.
  [[nodiscard]] QuorumPart EveryoneOf(const std::vector<size_t>& wants) const {
    QuorumPart part = PartOf(ask_.problem, wants);
    part.problem.total = static_cast<int64_t>(wants.size());
    part.problem.sub_groups.clear();
    part.problem.budget = QuotaBudget();
    return part;
  }

  const DomainSearch& ask_;
  Overlay& overlay_;
  const NodeSet* within_;
  std::vector<Part> parts_;
  std::vector<MemberPlace> places_;
  std::vector<std::pair<const DomainLevel*, uint32_t>> used_;  // by the members placed so far
  int placements_left_ = 0;
};

// Surplus members, placed in runs of members that are bound alike.
class SurplusOfGroups final {
 public:
  SurplusOfGroups(const DomainSearch& ask, Overlay& overlay, const NodeSet* within)
      : ask_(ask),
        overlay_(overlay),
        within_(within),
        groups_(ask.groups),
        standing_(ask.pinned.begin(), ask.pinned.end()) {}

  SearchResult Run() {
    const Overlay::Checkpoint start = overlay_.Mark();
    budget_ = ask_.problem.budget;
    SearchResult result{.outcome = Outcome::kProven, .places = {}, .shortage = {}};
    for (size_t begin = 0, end = 0; begin < ask_.problem.wants.size() && !overlay_.spent();
         begin = end) {
      std::vector<size_t> run;
      for (end = begin; end < ask_.problem.wants.size() && Alike(begin, end); ++end) {
        run.push_back(end);
      }
      for (const NodeSet& region : RegionsFor(begin)) {
        if (!run.empty()) run = PlaceSome(run, region, result.places);
      }
    }
    std::ranges::sort(result.places);
    overlay_.Rollback(start);
    if (!result.places.empty()) {
      result.outcome = Outcome::kFound;
    } else if (!ask_.problem.kinds.empty()) {
      if (overlay_.spent()) result.outcome = Outcome::kGaveUp;
      const uint32_t kind = ask_.problem.kinds.front();
      result.shortage = {.kind = kind, .wanted = ask_.problem.CountOf(kind), .placeable = 0};
    }
    return result;
  }

 private:
  [[nodiscard]] bool Alike(size_t a, size_t b) const {
    return ask_.problem.kinds[a] == ask_.problem.kinds[b] &&
           groups_.slice_of[a] == groups_.slice_of[b] &&
           groups_.sub_group_of[a] == groups_.sub_group_of[b] &&
           OwnWish(ask_, a) == OwnWish(ask_, b);
  }

  // Where the want may go, one region after the other: first the domains that its sub-group uses.
  [[nodiscard]] std::vector<NodeSet> RegionsFor(size_t want) const {
    const NodeSet all = within_ != nullptr ? *within_ : EveryNode();
    const DomainWish* wish = OwnWish(ask_, want);
    // A slice that is begun where few of its members fit would tie the others to that domain.
    if (wish == nullptr || groups_.slice_of[want] != MemberGroups::kNone) return {all};
    const auto standing = StandingOf(standing_, ask_.problem.wants[want].sub_group);
    std::vector<NodeSet> regions;
    for (size_t depth = wish->levels.size(); !standing.empty() && depth-- > 0;) {
      NodeSet used = NodesBesidePinned(overlay_.base(), *wish->levels[depth], standing);
      for (size_t b = 0; b < used.size(); ++b) used[b] &= all[b];
      regions.push_back(std::move(used));
    }
    regions.push_back(all);
    return regions;
  }

  // As many of the run as fit in the region. Returns the others.
  std::vector<size_t> PlaceSome(const std::vector<size_t>& run, const NodeSet& region,
                                std::vector<MemberPlace>& places) {
    const std::optional<NodeSet> nodes = NodesFor(run, region);
    if (!nodes.has_value()) return run;
    QuorumPart part = PartOf(ask_.problem, run);
    part.problem.budget = budget_;
    std::vector<size_t> others = run;
    for (const MemberPlace& place :
         PlaceSurplus(part.problem, ask_.kinds, overlay_, &*nodes).places) {
      const size_t want = run[place.want];
      const Want& member = ask_.problem.wants[want];
      overlay_.Place(place.node, member.shape);
      budget_.Take(ask_.problem.kinds[want], 1);
      Bind(want, place.node);
      standing_.push_back({member.pod, place.node, member.shape, member.sub_group});
      places.push_back({.want = want, .node = place.node});
      std::erase(others, want);
    }
    return others;
  }

  // The groups that a want is of.
  std::vector<MemberGroup*> GroupsOfWant(size_t want) {
    std::vector<MemberGroup*> groups;
    const int32_t sub_group = groups_.sub_group_of[want], slice = groups_.slice_of[want];
    if (sub_group != MemberGroups::kNone) {
      groups.push_back(&groups_.sub_groups[static_cast<size_t>(sub_group)]);
    }
    if (slice != MemberGroups::kNone) {
      groups.push_back(&groups_.slices[static_cast<size_t>(slice)]);
    }
    return groups;
  }

  // The nodes for the run: in the domains that bind it, or else in those with the best room.
  // None: there are none.
  std::optional<NodeSet> NodesFor(const std::vector<size_t>& run, NodeSet nodes) {
    for (const MemberGroup* group : GroupsOfWant(run.front())) {
      std::optional<uint32_t> domain = group->bound_to;
      if (!domain.has_value()) {
        const DomainRooms rooms =
            GroupTrial(ask_, overlay_, &nodes).RoomsIn(*group->level, &nodes, group->wants);
        domain = rooms.enough.empty() ? rooms.most : std::optional(rooms.enough.front());
        if (!domain.has_value()) return std::nullopt;
      }
      nodes = Inside(overlay_.base(), *group->level, *domain, &nodes);
    }
    return nodes;
  }
  [[nodiscard]] NodeSet EveryNode() const {
    NodeSet nodes;
    for (uint32_t b = 0; b < overlay_.block_count(); ++b) {
      nodes.push_back(overlay_.Block(b).rows().present);
    }
    return nodes;
  }
  void Bind(size_t want, NodeId node) {
    for (MemberGroup* group : GroupsOfWant(want)) group->bound_to = group->level->DomainOf(node);
  }

  const DomainSearch& ask_;
  Overlay& overlay_;
  const NodeSet* within_;
  MemberGroups groups_;           // bound as members are placed
  std::vector<Pinned> standing_;  // those placed here, too
  QuotaBudget budget_;
};

// All live members, then the quorum alone.
std::optional<SearchResult> TryGroups(const DomainSearch& ask, Overlay& overlay,
                                      const NodeSet* within, const std::vector<int64_t>& limits,
                                      int placements) {
  GroupTrial trial(ask, overlay, within);
  std::vector<size_t> all(ask.problem.wants.size());
  std::iota(all.begin(), all.end(), 0);
  if (auto places = trial.Run(all, placements)) {
    SearchResult found = QuorumOf(ask.problem, *std::move(places));
    if (found.outcome == Outcome::kFound) return found;
  }
  const auto quorum = SelectQuorum(ask.problem, limits);
  if (!quorum.has_value() || quorum->size() == all.size()) return std::nullopt;
  auto places = trial.Run(*quorum, placements);
  if (!places.has_value()) return std::nullopt;
  return SearchResult{.outcome = Outcome::kFound, .places = *std::move(places), .shortage = {}};
}

// An upper bound for each kind; none: the work is spent.
std::vector<int64_t> LimitsOf(const DomainSearch& ask, Overlay& overlay, const NodeSet* within) {
  std::vector<int64_t> limits;
  for (const Kind& kind : ask.kinds) {
    if (overlay.spent()) return {};
    limits.push_back(kind.bound == nullptr ? 0 : kind.bound->LimitOn(overlay, within));
  }
  return limits;
}

// By counting and the first few trials: kGaveUp where these leave it open.
SearchResult FirstTrials(const DomainSearch& ask, Overlay& overlay, const NodeSet* within,
                         const std::vector<int64_t>& limits) {
  const SearchResult open{.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
  if (limits.empty()) return open;
  if (const std::optional<Shortage> shortage = ProvenShortage(ask.problem, limits)) {
    return {.outcome = Outcome::kProven, .places = {}, .shortage = *shortage};
  }
  const size_t groups = ask.groups.slices.size() + ask.groups.sub_groups.size();
  const int first = std::min(kMostPlacements, kFirstPlacements + static_cast<int>(groups));
  return TryGroups(ask, overlay, within, limits, first).value_or(open);
}

}  // namespace

SearchResult TryToPlaceGroups(const DomainSearch& ask, Overlay& overlay, const NodeSet* within) {
  const std::vector<int64_t> limits = LimitsOf(ask, overlay, within);
  return FirstTrials(ask, overlay, within, limits);
}

SearchResult PlaceGroups(const DomainSearch& ask, Overlay& overlay, const NodeSet* within) {
  const std::vector<int64_t> limits = LimitsOf(ask, overlay, within);
  SearchResult first = FirstTrials(ask, overlay, within, limits);
  if (first.outcome != Outcome::kGaveUp || limits.empty()) return first;
  SearchResult thorough =
      JointSearch(ask.problem, ask.kinds, &ask.groups, overlay, within).SearchEverywhere();
  if (thorough.outcome != Outcome::kProven) {
    if (auto found = TryGroups(ask, overlay, within, limits, kMostPlacements)) {
      return *std::move(found);
    }
  }
  if (thorough.outcome == Outcome::kGaveUp) {
    const SearchLimits bound{.within = within, .groups = &ask.groups};
    const bool proves = std::ranges::all_of(ask.kinds, [](const Kind& kind) {
      return kind.bound == nullptr || kind.bound->counts_prove();
    });
    thorough = proves ? PlaceExhaustively(ask.problem, ask.kinds, overlay, bound, SearchBounds{})
                      : PlaceOneByOne(ask.problem, ask.kinds, overlay, bound);
  }
  if (thorough.outcome == Outcome::kFound) return thorough;
  // Room in one place is lacking: the report names the kind of most members.
  uint32_t most = 0;
  for (uint32_t k = 0; k < ask.problem.kind_count; ++k) {
    if (ask.problem.CountOf(k) > ask.problem.CountOf(most)) most = k;
  }
  const int64_t wanted = std::min(ask.problem.CountOf(most), ask.problem.total);
  thorough.shortage = {
      .kind = most, .wanted = wanted, .placeable = std::min(limits[most], wanted - 1)};
  return thorough;
}

SearchResult PlaceSurplusOfGroups(const DomainSearch& ask, Overlay& overlay,
                                  const NodeSet* within) {
  return SurplusOfGroups(ask, overlay, within).Run();
}

}  // namespace maniple
