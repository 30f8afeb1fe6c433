#include "scheduler/cycle/domain_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// Domains that pass the count but not the search, before a level is given up.
constexpr int kMostTrials = 16;

SearchResult SearchWithin(const DomainSearch& ask, Overlay& overlay, const NodeSet* within,
                          SearchGoal goal) {
  switch (ask.scope) {
    case DecideScope::kSurplus:
      return PlaceSurplus(ask.problem, ask.kinds, overlay, within);
    case DecideScope::kQuorum:
      break;
  }
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
  int64_t left_over = 0;
};

std::vector<DomainRoom> RoomByDomain(const DomainSearch& ask, const DomainLevel& level,
                                     const Overlay& overlay) {
  std::vector<DomainRoom> rooms(level.paths.size());
  for (uint32_t d = 0; d < rooms.size(); ++d) {
    rooms[d].domain = d;
    rooms[d].limits.assign(ask.kinds.size(), 0);
  }
  for (size_t k = 0; k < ask.kinds.size(); ++k) {
    if (ask.kinds[k].bound == nullptr) continue;
    for (const NodeRoom& room : ask.kinds[k].bound->RoomOn(overlay, nullptr).nodes) {
      const uint32_t domain = level.domain_of[room.node.index()];
      if (domain != DomainLevel::kOutside) rooms[domain].limits[k] += room.pods;
    }
  }
  for (uint32_t k = 0; k < ask.kinds.size(); ++k) {
    const int64_t count = ask.problem.CountOf(k);
    for (DomainRoom& room : rooms) {
      room.takes_all = room.takes_all && room.limits[k] >= count;
      room.left_over += room.limits[k] - count;
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
    std::vector<DomainRoom> rooms = RoomByDomain(ask_, level_, overlay_);
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
      return std::make_tuple(!room.takes_all, room.left_over, room.domain);
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
        result_.path = level_.paths[room.domain];
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

}  // namespace

DomainResult SearchDomains(const DomainSearch& ask, Overlay& overlay, SearchGoal goal) {
  DomainResult result;
  for (const DomainLevel& level : ask.choice.levels) {
    result = LevelSearch(ask, level, overlay, goal).Run();
    if (result.search.outcome == Outcome::kFound) return result;
  }
  if (ask.choice.required) return result;
  DomainResult anywhere;
  anywhere.search = SearchWithin(ask, overlay, nullptr, goal);
  return anywhere;
}

}  // namespace maniple
