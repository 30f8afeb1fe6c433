// Depth-first search over members and nodes, for gangs of several shapes that the greedy trials
// could not place. Their members may be bound together in slices and sub-groups.
//
// Complete when it ends within its bounds. Two symmetries are cut. Members of one kind
// and sub-group are placed in order of node, and passed over from the last one on.
// Of nodes that are alike and untouched only the first is tried.
#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/cycle/search/group_domains.h"
#include "scheduler/cycle/search/node_likeness.h"
#include "scheduler/cycle/search/search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// To ask a shape about a node costs this much more than to pass a node by.
constexpr int64_t kStepsPerLook = 16;
// One step here is so many steps of search_work.h.
constexpr int64_t kWorkPerStep = 10;
// Members placed at most by this search: its depth.
constexpr size_t kMostMembers = 512;

class Exhaustive final {
 public:
  Exhaustive(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
             const MemberGroups* groups, const SearchBounds& bounds)
      : problem_(problem),
        kinds_(kinds),
        overlay_(overlay),
        steps_left_(bounds.steps),
        part_left_(problem.sub_groups),
        total_left_(problem.total),
        budget_(problem.budget),
        domains_(groups, problem.wants.size()) {}

  SearchResult Run(const NodeSet* within) {
    const SearchResult given_up{.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
    if (overlay_.spent()) return given_up;
    ListNodes(within);
    OrderMembers();
    if (members_.size() > kMostMembers) return given_up;
    touched_.assign(nodes_.size(), 0);
    const int64_t before = steps_left_;
    const bool found = Descend(0);
    overlay_.Spend(kWorkPerStep * (before - steps_left_));
    SearchResult result{.outcome = Outcome::kFound, .places = std::move(places_), .shortage = {}};
    if (!found) result.outcome = steps_left_ < 0 ? Outcome::kGaveUp : Outcome::kProven;
    std::sort(result.places.begin(), result.places.end());
    return result;
  }

 private:
  // Every node with room for some kind, in order of name.
  void ListNodes(const NodeSet* within) {
    for (Kind& kind : kinds_) {
      if (kind.bound == nullptr) continue;
      for (const NodeRoom& room : kind.bound->RoomOn(overlay_, within).nodes) {
        nodes_.push_back(room.node);
      }
    }
    const std::vector<uint32_t>& rank = overlay_.base().order->rank;
    std::sort(nodes_.begin(), nodes_.end(),
              [&rank](NodeId a, NodeId b) { return rank[a.index()] < rank[b.index()]; });
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    NodeLikeness likeness(kinds_, overlay_, domains_.levels());
    std::vector<int32_t> rooms(kinds_.size(), 0);
    overlay_.Spend(kWorkPerStep * kStepsPerLook *
                   static_cast<int64_t>(nodes_.size() * kinds_.size()));
    for (const NodeId node : nodes_) {
      for (size_t k = 0; k < kinds_.size(); ++k) {
        if (kinds_[k].bound != nullptr) rooms[k] = kinds_[k].bound->RoomAt(overlay_, node);
      }
      likeness_.push_back(likeness.Of(node, rooms));
    }
  }

  // By kind, then sub-group, then their groups, then rank.
  void OrderMembers() {
    for (size_t i = 0; i < problem_.wants.size(); ++i) {
      if (kinds_[problem_.kinds[i]].bound != nullptr) members_.push_back(i);
    }
    const auto key = [this](size_t i) {
      return std::tie(problem_.kinds[i], problem_.wants[i].sub_group, domains_.Of(i));
    };
    std::stable_sort(members_.begin(), members_.end(),
                     [&key](size_t a, size_t b) { return key(a) < key(b); });
    remaining_.assign(members_.size() + 1, std::vector<int32_t>(part_left_.size(), 0));
    for (size_t i = members_.size(); i-- > 0;) {
      remaining_[i] = remaining_[i + 1];
      const std::optional<size_t> part = problem_.SubGroupOf(problem_.wants[members_[i]]);
      if (part.has_value()) ++remaining_[i][*part];
    }
  }

  [[nodiscard]] bool Met() const {
    return total_left_ == 0 &&
           std::all_of(part_left_.begin(), part_left_.end(), [](int32_t n) { return n == 0; });
  }

  // Whether members from `at` on are enough in number for the rest of the need.
  [[nodiscard]] bool Enough(size_t at) const {
    if (static_cast<int64_t>(members_.size() - at) < total_left_) return false;
    for (size_t g = 0; g < part_left_.size(); ++g) {
      if (remaining_[at][g] < part_left_[g]) return false;
    }
    return true;
  }

  [[nodiscard]] int64_t Slack() const {
    int64_t slack = total_left_;
    for (const int32_t part : part_left_) slack -= part;
    return slack;
  }

  [[nodiscard]] bool Alike(size_t a, size_t b) const {
    return problem_.kinds[members_[a]] == problem_.kinds[members_[b]] &&
           domains_.Of(members_[a]) == domains_.Of(members_[b]);
  }
  [[nodiscard]] bool Interchangeable(size_t a, size_t b) const {
    return Alike(a, b) &&
           problem_.wants[members_[a]].sub_group == problem_.wants[members_[b]].sub_group;
  }

  // Members before `at` are decided: placed, or passed over.
  bool Descend(size_t at) {
    if (Met()) return true;
    if (at == members_.size() || !Enough(at) || steps_left_ < 0) return false;
    if (TryToPlace(at)) return true;
    // Pass over this member and all interchangeable ones:
    // it makes no difference which of them is placed.
    size_t next = at + 1;
    while (next < members_.size() && Interchangeable(at, next)) ++next;
    return Descend(next);
  }

  bool TryToPlace(size_t at) {
    const Want& want = problem_.wants[members_[at]];
    const std::optional<size_t> part = problem_.SubGroupOf(want);
    const bool for_part = part.has_value() && part_left_[*part] > 0;
    if (!for_part && Slack() <= 0) return false;

    const uint32_t kind = problem_.kinds[members_[at]];
    if (budget_.CountOf(kind) <= 0) return false;
    BoundShape& bound = *kinds_[kind].bound;
    const bool follows = !placed_at_.empty() && Alike(placed_at_.back().first, at);
    const size_t first = follows ? placed_at_.back().second : 0;
    std::vector<bool> tried(nodes_.size(), false);  // by likeness
    for (size_t n = first; n < nodes_.size(); ++n) {
      if (--steps_left_ < 0) return false;
      if (touched_[n] == 0 && tried[likeness_[n]]) continue;
      if (!domains_.Allow(members_[at], nodes_[n])) continue;
      if (touched_[n] == 0) tried[likeness_[n]] = true;
      steps_left_ -= kStepsPerLook;
      if (bound.RoomAt(overlay_, nodes_[n]) <= 0) continue;
      const Overlay::Checkpoint before = overlay_.Mark();
      overlay_.Place(nodes_[n], want.shape);
      domains_.Join(members_[at], nodes_[n]);
      ++touched_[n];
      if (for_part) --part_left_[*part];
      --total_left_;
      budget_.Take(kind, 1);
      placed_at_.emplace_back(at, n);
      places_.push_back({.want = members_[at], .node = nodes_[n]});
      const bool found = Descend(at + 1);
      overlay_.Rollback(before);
      domains_.Leave(members_[at]);
      if (found) return true;
      places_.pop_back();
      placed_at_.pop_back();
      budget_.GiveBack(kind, 1);
      ++total_left_;
      if (for_part) ++part_left_[*part];
      --touched_[n];
    }
    return false;
  }

  const QuorumProblem& problem_;
  std::vector<Kind>& kinds_;
  Overlay& overlay_;
  int64_t steps_left_;

  std::vector<NodeId> nodes_;
  std::vector<Likeness> likeness_;               // parallel to nodes_
  std::vector<size_t> members_;                  // indices of wants, in search order
  std::vector<std::vector<int32_t>> remaining_;  // [i][g]: members from i on in sub-group g
  std::vector<int32_t> part_left_;
  int64_t total_left_;
  QuotaBudget budget_;
  GroupDomains domains_;
  std::vector<int32_t> touched_;                      // members placed, parallel to nodes_
  std::vector<std::pair<size_t, size_t>> placed_at_;  // (member, node) positions
  std::vector<MemberPlace> places_;
};

}  // namespace

SearchResult PlaceExhaustively(const QuorumProblem& problem, std::vector<Kind>& kinds,
                               Overlay& overlay, const SearchLimits& limits,
                               const SearchBounds& bounds) {
  return Exhaustive(problem, kinds, overlay, limits.groups, bounds).Run(limits.within);
}

}  // namespace maniple
