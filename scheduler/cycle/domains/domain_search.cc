#include "scheduler/cycle/domains/domain_search.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "scheduler/cycle/domains/counted_search.h"
#include "scheduler/cycle/domains/domain_room.h"
#include "scheduler/cycle/domains/grouped_search.h"
#include "scheduler/cycle/domains/implied_domain.h"
#include "scheduler/cycle/domains/narrowing.h"
#include "scheduler/cycle/domains/whole_gang.h"
#include "scheduler/cycle/search/joint_search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// A level is given up after so many looks (members times nodes) at domains of which neither numbers
// nor the search tell; and after so many domains in any case.
constexpr int64_t kMostDomainLooks = 100'000;
constexpr int kLeastTrials = 16;

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

// The shortage of a domain, by count alone; none when only the search can tell.
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
    Order(candidates);
    if (!TryWhole(candidates) && !Try(candidates) && best_.has_value()) {
      result_.best = level_.NodesOf(overlay_.base(), *best_);
      result_.best_path = level_.paths[*best_];
    }
    return std::move(result_);
  }

 private:
  static void Order(std::vector<DomainRoom>& candidates) {
    std::ranges::sort(candidates, {}, [](const DomainRoom& room) {
      return std::make_tuple(!room.takes_all, room.units, room.domain);
    });
  }

  // A domain that takes all live members is better than a tighter one that takes the quorum only.
  bool TryWhole(std::vector<DomainRoom>& candidates) {
    if (goal_ == SearchGoal::kAnswerOnly) return false;
    WholeGangSearch whole(ask_, level_, overlay_);
    if (!whole.applies()) return false;
    for (DomainRoom& room : candidates) {
      if (!room.takes_all) break;  // so does no later one
      std::optional<SearchResult> found = whole.QuorumIn(room.domain);
      room.takes_all = found.has_value();
      if (!room.takes_all) continue;
      result_.search = *std::move(found);
      result_.paths = {level_.paths[room.domain]};
      return true;
    }
    Order(candidates);
    return false;
  }

  bool Try(const std::vector<DomainRoom>& candidates) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const uint32_t domain = candidates[i].domain;
      // The first is nearly always the one.
      if (i > 0 && StruckOut(domain)) continue;
      if ((trials_ >= kLeastTrials && looks_ > kMostDomainLooks) || overlay_.spent()) {
        result_.search.outcome = Outcome::kGaveUp;
        return false;
      }
      const NodeSet within = level_.NodesOf(overlay_.base(), domain);
      SearchResult found = SearchWithin(ask_, overlay_, &within, goal_);
      if (found.outcome == Outcome::kFound) {
        result_.search = std::move(found);
        result_.paths = {level_.paths[domain]};
        return true;
      }
      if (found.outcome == Outcome::kGaveUp) result_.search.outcome = Outcome::kGaveUp;
      NoteMiss(domain, found.shortage);
      ++trials_;
      const auto members = static_cast<int64_t>(ask_.problem.wants.size());
      for (const NodeMask& nodes : within) looks_ += nodes.Count() * members;
    }
    return false;
  }

  // Whether the shapes together prove that the domain will not do, without a search.
  bool StruckOut(uint32_t domain) {
    if (ask_.scope != DecideScope::kQuorum) return false;
    if (joint_ == nullptr) {
      joint_ =
          std::make_unique<JointSearch>(ask_.problem, ask_.kinds, &ask_.groups, overlay_, nullptr);
      nodes_ = joint_->ByDomain(level_);
    }
    const SearchResult found = joint_->Search(nodes_[domain]);
    if (found.outcome != Outcome::kProven) return false;
    NoteMiss(domain, found.shortage);
    return true;
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
  std::unique_ptr<JointSearch> joint_;
  std::vector<std::vector<uint32_t>> nodes_;  // by domain, as joint_ numbers them
  int trials_ = 0;                            // that failed
  int64_t looks_ = 0;
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

// Surplus of a gang that stands in several domains of the level, in these. None: it is something
// else, or nobody fits there.
std::optional<DomainResult> SearchUsedDomains(const DomainSearch& ask, const DomainLevel& level,
                                              Overlay& overlay, SearchGoal goal) {
  // A slice that is begun where few of its members fit would tie the others to that domain.
  if (ask.scope != DecideScope::kSurplus || !ask.groups.empty()) return std::nullopt;
  const auto torn = [&](const DomainLevel& some) {
    return DomainOfPinned(overlay.base(), some, ask.pinned) == DomainLevel::kOutside;
  };
  const DomainLevel* required = ask.choice.gang.required_level();
  if (!torn(level) || (required != nullptr && torn(*required))) return std::nullopt;
  const NodeSet used = NodesBesidePinned(overlay.base(), level, ask.pinned);
  DomainResult result;
  result.search = SearchWithin(ask, overlay, &used, goal);
  if (result.search.outcome != Outcome::kFound) return std::nullopt;
  result.paths = PathsOf(level, result.search.places);
  result.domains = static_cast<int64_t>(level.paths.size());
  return result;
}

DomainResult SearchByTrial(const DomainSearch& ask, Overlay& overlay, SearchGoal goal) {
  DomainResult result;
  const DomainWish& wish = ask.choice.gang;
  const bool narrows = goal == SearchGoal::kNodes && ask.scope == DecideScope::kQuorum;
  const auto search = [&](const NodeSet* region) {
    return SearchWithin(ask, overlay, region, SearchGoal::kNodes);
  };
  for (size_t depth = wish.levels.size(); depth-- > 0;) {
    result = LevelSearch(ask, *wish.levels[depth], overlay, goal).Run();
    if (result.search.outcome != Outcome::kFound) {
      auto used = SearchUsedDomains(ask, *wish.levels[depth], overlay, goal);
      if (used.has_value()) return *std::move(used);
      continue;
    }
    const bool deeper = depth + 1 < wish.levels.size() || wish.slice != nullptr;
    if (narrows && deeper && !result.search.places.empty()) {
      const uint32_t domain = wish.levels[depth]->DomainOf(result.search.places.front().node);
      const NodeSet region = wish.levels[depth]->NodesOf(overlay.base(), domain);
      auto narrow = Narrow(ask, overlay, &region, depth + 1, search);
      if (narrow.has_value()) result.search = *std::move(narrow);
    }
    return result;
  }
  if (wish.required) return result;
  DomainResult anywhere;
  const bool levels = !wish.levels.empty() || wish.slice != nullptr;
  std::optional<SearchResult> few;
  if (narrows && levels) few = Narrow(ask, overlay, nullptr, 0, search);
  anywhere.search = few.has_value() ? *std::move(few) : SearchWithin(ask, overlay, nullptr, goal);
  if (levels) {
    const DomainLevelPtr& broadest = wish.levels.empty() ? wish.slice : wish.levels.front();
    anywhere.paths = PathsOf(*broadest, anywhere.search.places);
  }
  return anywhere;
}

// The one kind by whose room the whole request can be counted.
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

// Adds an implied domain where members want to be near each other and the request names none.
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
