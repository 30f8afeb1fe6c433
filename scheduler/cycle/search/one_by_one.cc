// The search for members that bear on each other across nodes, which no number bounds: one member
// after the other, of whichever shape fits next, until the quorum stands.
//
// Where nobody fits any more, the last member is put elsewhere. Complete when it ends within its
// bounds, for members that come one after the other. Members of one class are alike
// (member_classes.h), so what stands is a number of each class on each node; no such state is
// looked at twice. Its first way down is what kube-scheduler would do, which tries a pod again when
// others have come.
#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "scheduler/cycle/room/ranked_room.h"
#include "scheduler/cycle/search/group_domains.h"
#include "scheduler/cycle/search/member_classes.h"
#include "scheduler/cycle/search/search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// Looks at nodes after which no member is put elsewhere: some ten milliseconds.
constexpr int64_t kMostNodesLookedAt = 1'000'000;
// Members placed at most by this search: its depth.
constexpr int64_t kDeepest = 512;

class OneByOne final {
 public:
  OneByOne(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
           const SearchLimits& limits)
      : problem_(problem),
        kinds_(kinds),
        overlay_(overlay),
        within_(limits.within),
        classes_(problem, kinds, limits.groups),
        domains_(limits.groups, problem.wants.size()),
        target_(classes_.Quorum()),
        budget_(problem.budget) {}

  SearchResult Run() {
    SearchResult result{.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
    if (!classes_.known() || problem_.total > kDeepest || overlay_.spent()) return result;
    OrderClasses();
    const Overlay::Checkpoint start = overlay_.Mark();
    const bool found = Descend();
    overlay_.Rollback(start);
    if (found) {
      result.outcome = Outcome::kFound;
      result.places = Places();
    } else if (!gave_up_) {
      result.outcome = Outcome::kProven;
    }
    return result;
  }

 private:
  struct Step {
    uint32_t cls = 0;
    NodeId node;
  };

  // Those with the least room for each member first, GPUs before the rest.
  void OrderClasses() {
    std::vector<std::tuple<int64_t, bool, uint32_t>> keys;
    first_want_.assign(classes_.all().size(), 0);
    for (size_t want = problem_.wants.size(); want-- > 0;) {
      first_want_[classes_.of_want()[want]] = want;
    }
    for (uint32_t cls = 0; cls < classes_.all().size(); ++cls) {
      const MemberClass& it = classes_.all()[cls];
      BoundShape* bound = kinds_[it.kind].bound;
      if (bound == nullptr) continue;
      keys.emplace_back(bound->LimitOn(overlay_, within_) / it.members, !bound->shape().wants_gpu,
                        cls);
    }
    std::ranges::sort(keys);
    for (const auto& [room, without_gpu, cls] : keys) order_.push_back(cls);
  }

  // Whether a member more of the class brings the quorum nearer.
  [[nodiscard]] bool IsWanted(uint32_t cls) const {
    const MemberClass& it = classes_.all()[cls];
    if (target_.most[cls] <= 0 || budget_.CountOf(it.kind) <= 0) return false;
    if (NeedOf(it) > 0) return true;
    int64_t free = target_.total;
    for (const int64_t need : target_.needs) free -= std::max<int64_t>(need, 0);
    return free > 0;
  }
  [[nodiscard]] int64_t NeedOf(const MemberClass& it) const {
    const bool counts = it.sub_group != MemberClass::kNone && !target_.needs.empty();
    return counts ? target_.needs[static_cast<size_t>(it.sub_group)] : 0;
  }

  // True: the quorum stands, and `placed_` is how.
  bool Descend() {
    if (target_.total == 0) return true;
    if (overlay_.spent()) gave_up_ = true;
    if (gave_up_ || !seen_.insert(state_).second) return false;
    for (const uint32_t cls : order_) {
      if (!IsWanted(cls)) continue;
      for (const NodeId node : NodesFor(cls)) {
        Place(cls, node);
        if (Descend()) return true;
        TakeBack();
        gave_up_ = gave_up_ || looks_ > kMostNodesLookedAt;
        if (gave_up_) return false;
      }
    }
    return false;
  }

  // Nodes that take one now, the best first.
  [[nodiscard]] std::vector<NodeId> NodesFor(uint32_t cls) {
    BoundShape& bound = *kinds_[classes_.all()[cls].kind].bound;
    looks_ += int64_t{overlay_.block_count()} * kBlockNodes;
    std::vector<RankedNode> ranked = bound.Ranked(overlay_, bound.RoomOn(overlay_, within_));
    std::erase_if(ranked, [&](const RankedNode& node) {
      return !domains_.Allow(first_want_[cls], node.room.node);
    });
    std::ranges::sort(ranked, RanksBefore);
    std::vector<NodeId> nodes;
    for (const RankedNode& node : ranked) nodes.push_back(node.room.node);
    return nodes;
  }

  void Place(uint32_t cls, NodeId node) {
    const MemberClass& it = classes_.all()[cls];
    marks_.push_back(overlay_.Mark());
    overlay_.Place(node, kinds_[it.kind].shape);
    domains_.Join(first_want_[cls], node);
    placed_.push_back({cls, node});
    Count(placed_.back(), 1);
  }
  void TakeBack() {
    const Step step = placed_.back();
    placed_.pop_back();
    Count(step, -1);
    domains_.Leave(first_want_[step.cls]);
    overlay_.Rollback(marks_.back());
    marks_.pop_back();
  }
  void Count(const Step& step, int64_t members) {
    const MemberClass& it = classes_.all()[step.cls];
    target_.total -= members;
    target_.most[step.cls] -= members;
    if (it.sub_group != MemberClass::kNone && !target_.needs.empty()) {
      target_.needs[static_cast<size_t>(it.sub_group)] -= members;
    }
    budget_.Take(it.kind, members);
    // A sum, so that it tells nothing of the order.
    state_ += static_cast<uint64_t>(members) * absl::HashOf(step.cls, step.node.index());
  }

  // Members of a class take its nodes in order of rank.
  [[nodiscard]] std::vector<MemberPlace> Places() const {
    std::vector<MemberPlace> places;
    std::vector<size_t> next = first_want_;
    for (const Step& step : placed_) {
      size_t& want = next[step.cls];
      while (classes_.of_want()[want] != step.cls) ++want;
      places.push_back({.want = want++, .node = step.node});
    }
    std::ranges::sort(places);
    return places;
  }

  const QuorumProblem& problem_;
  std::vector<Kind>& kinds_;
  Overlay& overlay_;
  const NodeSet* within_;
  const MemberClasses classes_;
  GroupDomains domains_;
  QuorumTarget target_;  // what is still to be placed
  QuotaBudget budget_;
  std::vector<uint32_t> order_;     // classes, as they are tried
  std::vector<size_t> first_want_;  // by class
  std::vector<Step> placed_;
  std::vector<Overlay::Checkpoint> marks_;  // before each of them
  uint64_t state_ = 0;                      // of what is placed
  absl::flat_hash_set<uint64_t> seen_;      // states that lead nowhere
  int64_t looks_ = 0;
  bool gave_up_ = false;
};

}  // namespace

SearchResult PlaceOneByOne(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                           const SearchLimits& limits) {
  return OneByOne(problem, kinds, overlay, limits).Run();
}

}  // namespace maniple
