#include "scheduler/cycle/search/search.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "api/base/check.h"
#include "scheduler/cycle/room/ranked_room.h"
#include "scheduler/cycle/search/joint_search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// How a trial ranks the nodes of a shape.
enum class Taste : uint8_t {
  kScore,  // as the profile says
  kSpare,  // leave alone the nodes that the gang's other shapes could use
  kRoomy,  // where most still fit: that runs out of room last, and delays no others
};

// Room of every kind on the overlay as it stands, none of the gang's members placed.
struct Rooms {
  std::vector<ShapeRoom> by_kind;
  std::vector<int64_t> limits;  // an upper bound per kind
};

bool CountsProve(const std::vector<Kind>& kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [](const Kind& kind) {
    return kind.bound == nullptr || kind.bound->counts_prove();
  });
}

std::vector<int64_t> CountByKind(const QuorumProblem& problem, const std::vector<size_t>& chosen) {
  std::vector<int64_t> counts(problem.kind_count, 0);
  for (const size_t want : chosen) ++counts[problem.kinds[want]];
  return counts;
}

// Gives the nodes of each kind to its chosen members, in order.
SearchResult Found(const QuorumProblem& problem, const std::vector<size_t>& chosen,
                   const std::vector<std::vector<NodeId>>& nodes) {
  SearchResult result{.outcome = Outcome::kFound, .places = {}, .shortage = {}};
  std::vector<size_t> next(nodes.size(), 0);
  for (const size_t want : chosen) {
    const uint32_t kind = problem.kinds[want];
    result.places.push_back({.want = want, .node = nodes[kind][next[kind]++]});
  }
  return result;
}

// One way to place chosen members, kind after kind.
class Trial final {
 public:
  Trial(std::vector<Kind>& kinds, Overlay& overlay, const NodeSet* within, const Rooms& rooms)
      : kinds_(kinds), overlay_(overlay), within_(within), rooms_(rooms) {}

  // True when all are placed; then nodes() tells where. Leaves the overlay as it was.
  bool Run(const std::vector<uint32_t>& order, const std::vector<int64_t>& counts, Taste taste) {
    const Overlay::Checkpoint start = overlay_.Mark();
    nodes_.assign(kinds_.size(), {});
    bool fits = true;
    for (size_t i = 0; i < order.size() && fits; ++i) {
      kind_ = order[i];
      later_.assign(order.begin() + static_cast<int64_t>(i) + 1, order.end());
      fits = PlaceKind(counts[kind_], taste);
    }
    overlay_.Rollback(start);
    return fits;
  }

  [[nodiscard]] const std::vector<std::vector<NodeId>>& nodes() const { return nodes_; }
  // The kind that failed, and how many of its members were placed.
  [[nodiscard]] uint32_t failed_kind() const { return kind_; }
  [[nodiscard]] int64_t failed_room() const { return failed_room_; }

 private:
  bool PlaceKind(int64_t count, Taste taste) {
    if (count == 0) return true;
    BoundShape& bound = *kinds_[kind_].bound;
    while (static_cast<int64_t>(nodes_[kind_].size()) < count) {
      failed_room_ = static_cast<int64_t>(nodes_[kind_].size());
      if (overlay_.spent()) return false;
      const ShapeRoom room = bound.RoomOn(overlay_, within_);
      const auto placed = static_cast<int64_t>(nodes_[kind_].size());
      const int64_t step = StepOf(bound, count, count - placed);
      if (room.total < step) {
        failed_room_ = placed + room.total;
        return false;
      }
      std::vector<RankedNode> nodes = bound.Ranked(overlay_, room);
      switch (taste) {
        case Taste::kScore:
          break;
        case Taste::kSpare:
          Spare(nodes);
          break;
        case Taste::kRoomy:
          PreferRoomy(nodes);
          break;
      }
      for (const NodeId node : ChooseNodes(std::move(nodes), step)) {
        overlay_.Place(node, kinds_[kind_].shape);
        nodes_[kind_].push_back(node);
      }
    }
    return true;
  }

  // How many members to place before looking again. Where they bear on each other across nodes,
  // each changes the room of the next; where they only prefer to be near or apart, a few at a
  // time.
  static int64_t StepOf(const BoundShape& bound, int64_t count, int64_t left) {
    constexpr int64_t kMostLooks = 128;
    if (!bound.counts_prove()) return 1;
    if (!bound.compares()) return left;
    return std::min(left, std::max<int64_t>(1, count / kMostLooks));
  }

  static constexpr int64_t kAbove = int64_t{1} << 24;  // every sum of weighted scores

  // Ranks the nodes that kinds still to come could use behind all others. REQUIRES: id order.
  void Spare(std::vector<RankedNode>& nodes) {
    overlay_.Spend(static_cast<int64_t>(later_.size() * nodes.size()));
    for (const uint32_t other : later_) {
      const std::vector<NodeRoom>& useful = rooms_.by_kind[other].nodes;
      auto at = useful.begin();
      for (RankedNode& node : nodes) {
        while (at != useful.end() && at->node < node.room.node) ++at;
        if (at == useful.end()) break;
        if (at->node == node.room.node) node.score -= kAbove;
      }
    }
  }

  // REQUIRES: id order.
  void PreferRoomy(std::vector<RankedNode>& nodes) {
    const ShapeRoom room = kinds_[kind_].bound->AtMostOn(overlay_, within_);
    auto at = room.nodes.begin();
    for (RankedNode& node : nodes) {
      while (at != room.nodes.end() && at->node < node.room.node) ++at;
      if (at == room.nodes.end()) break;
      if (at->node == node.room.node) node.score += int64_t{at->pods} * kAbove;
    }
  }

  std::vector<Kind>& kinds_;
  Overlay& overlay_;
  const NodeSet* within_;
  const Rooms& rooms_;
  std::vector<std::vector<NodeId>> nodes_;  // by kind
  std::vector<uint32_t> later_;
  uint32_t kind_ = 0;
  int64_t failed_room_ = 0;
};

// Kinds that are placed, scarcest first: the least room per member, kinds with GPUs first,
// then by first member.
std::vector<uint32_t> ScarcestFirst(const std::vector<Kind>& kinds,
                                    const std::vector<int64_t>& counts, const Rooms& rooms) {
  std::vector<uint32_t> order;
  for (uint32_t k = 0; k < kinds.size(); ++k) {
    if (counts[k] > 0) order.push_back(k);
  }
  const auto key = [&](uint32_t k) {
    return std::make_tuple(rooms.limits[k] / counts[k], !kinds[k].bound->shape().wants_gpu, k);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

// The kind whose limit leaves out the most members.
Shortage MostLimited(const QuorumProblem& problem, const std::vector<int64_t>& limits) {
  Shortage worst;
  for (uint32_t k = 0; k < problem.kind_count; ++k) {
    const int64_t count = problem.CountOf(k);
    if (count - limits[k] <= worst.wanted - worst.placeable) continue;
    worst = {.kind = k, .wanted = count, .placeable = limits[k]};
  }
  return worst;
}

// For one kind all orders are the same, and so are all tastes unless members bear on each other.
bool MakesADifference(Taste taste, const std::vector<Kind>& kinds,
                      const std::vector<uint32_t>& order) {
  switch (taste) {
    case Taste::kScore:
    case Taste::kSpare:
      return order.size() > 1;
    case Taste::kRoomy:
      return std::ranges::any_of(
          order, [&kinds](uint32_t kind) { return !kinds[kind].bound->bounds_prove(); });
  }
  return true;
}

// Greedy trials in a few orders and tastes. When all of them fail for lack of one kind, members of
// that kind are passed over for others, if the quorum can do without them.
SearchResult PlaceGreedily(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                           const NodeSet* within, const Rooms& rooms) {
  constexpr int kRounds = 8;
  SearchResult result{.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
  std::vector<int64_t> limits = rooms.limits;
  for (int round = 0; round < kRounds; ++round) {
    const std::optional<std::vector<size_t>> chosen = SelectQuorum(problem, limits);
    if (!chosen.has_value()) {
      if (round == 0) result.shortage = MostLimited(problem, limits);
      return result;
    }
    const std::vector<int64_t> counts = CountByKind(problem, *chosen);
    std::vector<uint32_t> order = ScarcestFirst(kinds, counts, rooms);
    Trial trial(kinds, overlay, within, rooms);
    std::optional<Shortage> first;
    const int turns = order.size() > 1 ? 2 : 1;
    for (int turn = 0; turn < turns; ++turn) {
      for (const Taste taste : {Taste::kScore, Taste::kSpare, Taste::kRoomy}) {
        if (first.has_value() && (overlay.spent() || !MakesADifference(taste, kinds, order))) {
          continue;
        }
        if (trial.Run(order, counts, taste)) return Found(problem, *chosen, trial.nodes());
        if (first.has_value()) continue;
        first = Shortage{.kind = trial.failed_kind(),
                         .wanted = counts[trial.failed_kind()],
                         .placeable = trial.failed_room()};
      }
      std::reverse(order.begin(), order.end());
    }
    if (round == 0) result.shortage = *first;
    if (overlay.spent()) return result;
    limits[first->kind] = first->placeable;
  }
  return result;
}

}  // namespace

std::vector<NodeId> ChooseNodes(std::vector<RankedNode> nodes, int64_t pods) {
  // Each node takes at least one pod, so no more than `pods` of them are needed.
  const auto end = nodes.begin() + std::min<int64_t>(pods, static_cast<int64_t>(nodes.size()));
  if (end != nodes.end()) std::nth_element(nodes.begin(), end, nodes.end(), RanksBefore);
  std::sort(nodes.begin(), end, RanksBefore);
  auto last = nodes.begin();
  for (int64_t left = pods; left > 0; ++last) {
    CHECK(last != end) << "room for fewer than " << pods << " pods";
    left -= last->room.pods;
  }
  nodes.erase(last, nodes.end());
  return ShareOut(std::move(nodes), pods);
}

namespace {

enum class Wanted : uint8_t { kNodes, kAnswerOnly };
enum class Effort : uint8_t { kTrials, kThorough };

// The one kind that the chosen members are of, when counting alone tells the answer.
std::optional<uint32_t> OnlyKind(const std::vector<int64_t>& counts) {
  std::optional<uint32_t> only;
  for (uint32_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    if (only.has_value()) return std::nullopt;
    only = k;
  }
  return only;
}

SearchResult SolveQuorum(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                         const NodeSet* within, Wanted wanted, Effort effort = Effort::kThorough) {
  std::vector<std::optional<RankedRoom>> ranked;
  Rooms rooms;
  for (Kind& kind : kinds) {
    if (overlay.spent()) return {.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
    auto& room = ranked.emplace_back();
    if (kind.bound == nullptr) {
      rooms.limits.push_back(0);
      continue;
    }
    room.emplace(*kind.bound, overlay, within);
    rooms.limits.push_back(kind.bound->bounds_prove() ? room->total()
                                                      : kind.bound->LimitOn(overlay, within));
  }
  const bool proves = CountsProve(kinds);
  if (const std::optional<Shortage> shortage = ProvenShortage(problem, rooms.limits)) {
    return {.outcome = Outcome::kProven, .places = {}, .shortage = *shortage};
  }
  const std::optional<std::vector<size_t>> chosen = SelectQuorum(problem, rooms.limits);
  if (chosen.has_value() && proves) {
    const std::vector<int64_t> counts = CountByKind(problem, *chosen);
    if (const std::optional<uint32_t> kind = OnlyKind(counts)) {
      if (wanted == Wanted::kAnswerOnly)
        return {.outcome = Outcome::kFound, .places = {}, .shortage = {}};
      std::vector<std::vector<NodeId>> nodes(kinds.size());
      Trial trial(kinds, overlay, within, rooms);
      if (kinds[*kind].bound->compares() && trial.Run({*kind}, counts, Taste::kScore)) {
        nodes = trial.nodes();
        std::ranges::sort(nodes[*kind], {}, [&overlay](NodeId node) {
          return overlay.base().order->rank[node.index()];
        });
      } else {
        nodes[*kind] = ranked[*kind]->Best(counts[*kind]);
      }
      return Found(problem, *chosen, nodes);
    }
  }
  for (const std::optional<RankedRoom>& room : ranked) {
    rooms.by_kind.push_back(room.has_value() ? room->All() : ShapeRoom{});
  }
  SearchResult greedy = PlaceGreedily(problem, kinds, overlay, within, rooms);
  if (greedy.outcome == Outcome::kFound || effort == Effort::kTrials) return greedy;
  SearchResult thorough;
  if (!proves) {
    thorough = PlaceOneByOne(problem, kinds, overlay, {.within = within});
  } else {
    thorough = JointSearch(problem, kinds, nullptr, overlay, within).SearchEverywhere();
    if (thorough.outcome == Outcome::kGaveUp) {
      thorough = PlaceExhaustively(problem, kinds, overlay, {.within = within}, SearchBounds{});
    }
  }
  thorough.shortage = greedy.shortage;
  return thorough;
}

}  // namespace

SearchResult PlaceQuorum(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                         const NodeSet* within) {
  return SolveQuorum(problem, kinds, overlay, within, Wanted::kNodes);
}

SearchResult CouldPlaceQuorum(const QuorumProblem& problem, std::vector<Kind>& kinds,
                              Overlay& overlay, const NodeSet* within) {
  return SolveQuorum(problem, kinds, overlay, within, Wanted::kAnswerOnly);
}

SearchResult TryToPlace(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                        const NodeSet* within) {
  return SolveQuorum(problem, kinds, overlay, within, Wanted::kNodes, Effort::kTrials);
}

SearchResult QuorumOf(const QuorumProblem& problem, std::vector<MemberPlace> places) {
  std::vector<size_t> wants;
  for (const MemberPlace& place : places) wants.push_back(place.want);
  const QuorumPart part = PartOf(problem, wants);
  const std::vector<int64_t> no_limit(problem.kind_count, std::numeric_limits<int64_t>::max());
  const auto chosen = SelectQuorum(part.problem, no_limit);
  SearchResult result{.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
  if (!chosen.has_value()) return result;
  result.outcome = Outcome::kFound;
  for (const size_t i : *chosen) result.places.push_back(places[i]);
  return result;
}

SearchResult PlaceSurplus(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                          const NodeSet* within) {
  const Overlay::Checkpoint start = overlay.Mark();
  SearchResult result{.outcome = Outcome::kProven, .places = {}, .shortage = {}};
  // Room only shrinks as members are placed, so a kind without room is done.
  std::vector<bool> done(kinds.size(), false);
  QuotaBudget budget = problem.budget;
  for (size_t want = 0; want < problem.wants.size() && !overlay.spent();) {
    const uint32_t kind = problem.kinds[want];
    // A run of members of one kind is placed by one count.
    size_t end = want;
    while (end < problem.wants.size() && problem.kinds[end] == kind) ++end;
    if (!done[kind] && kinds[kind].bound != nullptr) {
      BoundShape& bound = *kinds[kind].bound;
      const RankedRoom room(bound, overlay, within);
      auto pods = std::min({room.total(), static_cast<int64_t>(end - want), budget.CountOf(kind)});
      if (!bound.counts_prove() || bound.compares()) pods = std::min<int64_t>(pods, 1);
      done[kind] = pods == 0;
      if (pods > 0) {
        budget.Take(kind, pods);
        for (const NodeId node : room.Best(pods)) {
          overlay.Place(node, kinds[kind].shape);
          result.places.push_back({.want = want++, .node = node});
        }
        continue;
      }
    }
    want = end;
  }
  overlay.Rollback(start);
  if (!result.places.empty()) {
    result.outcome = Outcome::kFound;
  } else {
    if (overlay.spent()) result.outcome = Outcome::kGaveUp;
    result.shortage = {.kind = problem.kinds.empty() ? 0 : problem.kinds.front(),
                       .wanted = problem.kinds.empty() ? 0 : problem.CountOf(problem.kinds.front()),
                       .placeable = 0};
  }
  return result;
}

}  // namespace maniple
