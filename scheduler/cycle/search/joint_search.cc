#include "scheduler/cycle/search/joint_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// Takes some ten milliseconds.
constexpr int64_t kMostJointSteps = 10'000'000;
constexpr size_t kMostGroups = 8;

bool NumbersTell(const std::vector<Kind>& kinds) {
  return std::ranges::all_of(kinds, [](const Kind& kind) {
    return kind.bound == nullptr || (kind.bound->bounds_prove() && kind.bound->local());
  });
}

}  // namespace

// A choice of one domain for each group, within one set of nodes.
class DomainAssignment final {
 public:
  DomainAssignment(JointSearch& search, std::span<const uint32_t> nodes)
      : search_(search),
        groups_(search.classes_.groups()),
        nodes_(nodes),
        chosen_(groups_.size()),
        domains_(groups_.size()),
        order_(groups_.size()) {}

  SearchResult Run() {
    Outcome outcome = PackAll(ShapePacking::Keep::kNodes);
    if (outcome != Outcome::kFound) return search_.Lacking(outcome);
    if (groups_.empty()) return search_.PlacesOn(packed_);
    SearchResult lacking = search_.Lacking(Outcome::kGaveUp);
    for (size_t group = 0; group < groups_.size(); ++group) {
      if (!ListDomains(group)) return lacking;
      lacking.outcome = Outcome::kProven;
      if (domains_[group].empty()) return lacking;
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, {}, [this](size_t group) { return domains_[group].size(); });
    outcome = Choose(0);
    if (outcome == Outcome::kFound) return search_.PlacesOn(packed_);
    lacking.outcome = outcome;
    return lacking;
  }

 private:
  // The domain of a group's members; none: not chosen yet; kOutside: none.
  using Choice = std::optional<uint32_t>;

  [[nodiscard]] ClassMask ClassesOn(uint32_t node) const {
    ClassMask mask = 0;
    const std::span<const int32_t> rooms = search_.room_.RoomsOf(node);
    const std::vector<MemberClass>& classes = search_.classes_.all();
    for (uint32_t cls = 0; cls < classes.size(); ++cls) {
      if (rooms[classes[cls].kind] <= 0) continue;
      const bool may = std::ranges::all_of(classes[cls].groups, [&](size_t group) {
        const uint32_t domain = groups_[group]->level->DomainOf(search_.room_.nodes[node]);
        return domain != DomainLevel::kOutside && chosen_[group].value_or(domain) == domain;
      });
      if (may) mask |= ClassMask{1} << cls;
    }
    return mask;
  }

  [[nodiscard]] Outcome Pack(std::span<const uint32_t> nodes, const QuorumTarget& target,
                             ShapePacking::Keep keep) {
    packed_.clear();
    for (const uint32_t node : nodes) {
      const ClassMask mask = ClassesOn(node);
      if (mask == 0) continue;
      packed_.push_back({.node = search_.room_.nodes[node],
                         .likeness = search_.room_.like[node],
                         .classes = mask});
    }
    if (!search_.packing_.Pack(packed_, target, keep)) return Outcome::kGaveUp;
    return search_.packing_.Meets(target) ? Outcome::kFound : Outcome::kProven;
  }
  [[nodiscard]] Outcome PackAll(ShapePacking::Keep keep) {
    return Pack(nodes_, search_.quorum_, keep);
  }

  // Domains on these nodes that hold as many members of the group as every quorum needs,
  // with no other members there. False: the work is spent.
  bool ListDomains(size_t group) {
    const QuorumTarget least = search_.classes_.LeastOf(group);
    const DomainLevel& level = *groups_[group]->level;
    std::vector<std::pair<uint32_t, uint32_t>> by_domain;
    for (const uint32_t node : nodes_) {
      const uint32_t domain = level.DomainOf(search_.room_.nodes[node]);
      if (domain == DomainLevel::kOutside) continue;
      if (groups_[group]->bound_to.value_or(domain) == domain) by_domain.emplace_back(domain, node);
    }
    std::ranges::stable_sort(by_domain, {}, &std::pair<uint32_t, uint32_t>::first);
    for (size_t begin = 0, end = 0; begin < by_domain.size(); begin = end) {
      std::vector<uint32_t> nodes;
      for (end = begin; end < by_domain.size() && by_domain[end].first == by_domain[begin].first;
           ++end) {
        nodes.push_back(by_domain[end].second);
      }
      const Outcome outcome = Pack(nodes, least, ShapePacking::Keep::kAnswer);
      if (outcome == Outcome::kGaveUp) return false;
      if (outcome == Outcome::kFound) domains_[group].push_back(by_domain[begin].first);
    }
    if (search_.classes_.Meets(least, 0, 0)) domains_[group].push_back(DomainLevel::kOutside);
    return true;
  }

  // Chooses for the groups from `at` on, those with the fewest domains first.
  // kFound: packed_ is how.
  [[nodiscard]] Outcome Choose(size_t at) {
    if (at == order_.size()) return PackAll(ShapePacking::Keep::kNodes);
    if (const Outcome some = PackAll(ShapePacking::Keep::kAnswer); some != Outcome::kFound) {
      return some;
    }
    const size_t group = order_[at];
    for (const uint32_t domain : domains_[group]) {
      chosen_[group] = domain;
      const Outcome with = Choose(at + 1);
      if (with != Outcome::kProven) return with;
    }
    chosen_[group].reset();
    return Outcome::kProven;
  }

  JointSearch& search_;
  const std::vector<const MemberGroup*>& groups_;
  std::span<const uint32_t> nodes_;
  std::vector<PackedNode> packed_;
  std::vector<Choice> chosen_;                  // by group
  std::vector<std::vector<uint32_t>> domains_;  // by group
  std::vector<size_t> order_;
};

JointSearch::JointSearch(const QuorumProblem& problem, std::vector<Kind>& kinds,
                         const MemberGroups* groups, Overlay& overlay, const NodeSet* within)
    : classes_(problem, kinds, groups),
      overlay_(overlay),
      applies_(NumbersTell(kinds) && classes_.few() && classes_.groups().size() <= kMostGroups),
      counts_prove_(std::ranges::all_of(
          kinds,
          [](const Kind& kind) { return kind.bound == nullptr || kind.bound->counts_prove(); })),
      work_(kMostJointSteps, overlay.work()),
      patterns_(classes_, kinds, overlay, work_),
      packing_(classes_, patterns_, work_),
      quorum_(classes_.Quorum()) {
  if (applies_ && !work_.spent()) room_ = NodesWithRoom(kinds, overlay, within);
}

std::vector<std::vector<uint32_t>> JointSearch::ByDomain(const DomainLevel& level) const {
  std::vector<std::vector<uint32_t>> nodes(level.paths.size());
  for (uint32_t node = 0; node < room_.nodes.size(); ++node) {
    const uint32_t domain = level.DomainOf(room_.nodes[node]);
    if (domain != DomainLevel::kOutside) nodes[domain].push_back(node);
  }
  return nodes;
}

SearchResult JointSearch::Search(std::span<const uint32_t> nodes) {
  if (!applies_ || work_.spent())
    return {.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
  return DomainAssignment(*this, nodes).Run();
}

SearchResult JointSearch::SearchEverywhere() {
  std::vector<uint32_t> nodes(room_.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return Search(nodes);
}

// Of all choices of members that fit, the first by rank.
SearchResult JointSearch::PlacesOn(std::span<const PackedNode> nodes) {
  SearchResult result{.outcome = Outcome::kGaveUp, .places = {}, .shortage = {}};
  if (!counts_prove_) return result;
  std::optional<std::vector<size_t>> chosen;
  PackingState reached = 0;
  const std::vector<int64_t> last_beside = packing_.last_beside();
  for (PackingState state = classes_.states(); state-- > 0 && !work_.spent();) {
    if (last_beside[state] == ShapePacking::kNot) continue;
    if (!classes_.Meets(quorum_, state, last_beside[state])) continue;
    work_.Spend(static_cast<int64_t>(classes_.of_want().size()) * 4);
    auto other = classes_.Select(classes_.CountsOf(state, last_beside[state]));
    if (!other.has_value() || (chosen.has_value() && *chosen <= *other)) continue;
    chosen = std::move(other);
    reached = state;
  }
  if (!chosen.has_value()) return result;
  std::vector<std::vector<NodeId>> by_class =
      packing_.NodesOf(nodes, reached, last_beside[reached]);
  const std::vector<uint32_t>& rank = overlay_.base().order->rank;
  for (std::vector<NodeId>& some : by_class) {
    std::ranges::sort(some, {}, [&rank](NodeId node) { return rank[node.index()]; });
  }
  std::vector<size_t> next(by_class.size(), 0);
  for (const size_t want : *chosen) {
    const uint32_t cls = classes_.of_want()[want];
    result.places.push_back({.want = want, .node = by_class[cls][next[cls]++]});
  }
  result.outcome = Outcome::kFound;
  return result;
}

// Tells the shortage by the most members that were placed together.
SearchResult JointSearch::Lacking(Outcome outcome) const {
  SearchResult result{.outcome = outcome, .places = {}, .shortage = {}};
  const PackingState closest = packing_.Closest(quorum_);
  const std::vector<int64_t> placed =
      classes_.CountsOf(closest, std::max<int64_t>(0, packing_.last_beside()[closest]));
  int64_t missing = -1;
  for (uint32_t cls = 0; cls < placed.size(); ++cls) {
    const MemberClass& it = classes_.all()[cls];
    const int64_t lacking = it.members - std::min(it.members, placed[cls]);
    if (lacking <= missing) continue;
    missing = lacking;
    result.shortage = {.kind = it.kind, .wanted = it.members, .placeable = it.members - lacking};
  }
  result.shortage.placeable = std::min(result.shortage.placeable, result.shortage.wanted - 1);
  return result;
}

}  // namespace maniple
