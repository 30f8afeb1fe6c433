#include "scheduler/cycle/search/member_classes.h"

#include <algorithm>
#include <tuple>

namespace maniple {
namespace {

constexpr int64_t kMostStates = 4096;

bool NeedsPairs(const Kind& kind) {
  return kind.bound != nullptr && kind.bound->shape().constraints.requires_nvlink;
}

}  // namespace

MemberClasses::MemberClasses(const QuorumProblem& problem, const std::vector<Kind>& kinds,
                             const MemberGroups* groups)
    : problem_(problem) {
  NumberWants(groups);
  few_ = !classes_.empty() && classes_.size() <= kFewClasses;
  if (few_) NumberStates(kinds);
}

void MemberClasses::NumberWants(const MemberGroups* groups) {
  std::vector<std::vector<size_t>> groups_of(problem_.wants.size());
  if (groups != nullptr) {
    for (const std::vector<MemberGroup>* some : {&groups->slices, &groups->sub_groups}) {
      for (const MemberGroup& group : *some) {
        for (const size_t want : group.wants) groups_of[want].push_back(groups_.size());
        groups_.push_back(&group);
      }
    }
  }
  // Where all members are needed, their sub-groups do not matter.
  const bool some_will_do = problem_.total < static_cast<int64_t>(problem_.wants.size());
  for (size_t i = 0; i < problem_.wants.size(); ++i) {
    MemberClass it{.kind = problem_.kinds[i], .groups = std::move(groups_of[i])};
    if (some_will_do) {
      const std::optional<size_t> part = problem_.SubGroupOf(problem_.wants[i]);
      if (part.has_value()) it.sub_group = static_cast<int32_t>(*part);
    }
    const auto at = std::ranges::find_if(classes_, [&it](const MemberClass& known) {
      return std::tie(known.kind, known.sub_group, known.groups) ==
             std::tie(it.kind, it.sub_group, it.groups);
    });
    of_want_.push_back(static_cast<uint32_t>(at - classes_.begin()));
    if (at == classes_.end()) classes_.push_back(std::move(it));
    ++classes_[of_want_.back()].members;
    if (classes_.size() > kMostClasses) return;
  }
}

// Pods that need linked GPUs go first on every node: for the others any remaining GPUs will do.
void MemberClasses::NumberStates(const std::vector<Kind>& kinds) {
  const auto key = [&](uint32_t cls) {
    return std::make_tuple(!NeedsPairs(kinds[classes_[cls].kind]), classes_[cls].members);
  };
  for (uint32_t cls = 0; cls < classes_.size(); ++cls) others_.push_back(cls);
  std::ranges::stable_sort(others_, {}, key);
  last_ = others_.back();
  others_.pop_back();
  step_.assign(classes_.size(), 1);
  int64_t states = 1;
  for (const uint32_t cls : others_) {
    step_[cls] = static_cast<PackingState>(states);
    states *= classes_[cls].members + 1;
    few_ = few_ && states <= kMostStates;
    if (!few_) return;
  }
  states_ = static_cast<PackingState>(states);
}

PackingState MemberClasses::Less(PackingState state, PackingState placed) const {
  PackingState left = 0;
  for (const uint32_t cls : others_) {
    const int64_t more = CountIn(state, cls) - CountIn(placed, cls);
    if (more > 0) left += static_cast<PackingState>(more) * step_[cls];
  }
  return left;
}

std::vector<int64_t> MemberClasses::CountsOf(PackingState state, int64_t last) const {
  std::vector<int64_t> counts(classes_.size(), 0);
  for (const uint32_t cls : others_) counts[cls] = CountIn(state, cls);
  counts[last_] = last;
  return counts;
}

QuorumTarget MemberClasses::Quorum() const {
  QuorumTarget target{.most = {}, .needs = {}, .total = problem_.total};
  target.needs.assign(problem_.sub_groups.begin(), problem_.sub_groups.end());
  for (const MemberClass& it : classes_) target.most.push_back(it.members);
  if (target.total == static_cast<int64_t>(problem_.wants.size())) target.needs.clear();
  return target;
}

QuorumTarget MemberClasses::LeastOf(size_t group) const {
  QuorumTarget target = Quorum();
  for (uint32_t cls = 0; cls < classes_.size(); ++cls) {
    const MemberClass& it = classes_[cls];
    if (std::ranges::find(it.groups, group) != it.groups.end()) continue;
    target.most[cls] = 0;
    target.total -= it.members;
    if (it.sub_group != MemberClass::kNone && !target.needs.empty()) {
      target.needs[static_cast<size_t>(it.sub_group)] -= it.members;
    }
  }
  return target;
}

bool MemberClasses::Meets(const QuorumTarget& target, PackingState state, int64_t last) const {
  int64_t total = target.total;
  for (uint32_t cls = 0; cls < classes_.size(); ++cls) {
    total -= std::min(cls == last_ ? last : CountIn(state, cls), target.most[cls]);
  }
  if (total > 0) return false;
  for (size_t g = 0; g < target.needs.size(); ++g) {
    int64_t need = target.needs[g];
    for (uint32_t cls = 0; cls < classes_.size() && need > 0; ++cls) {
      if (classes_[cls].sub_group != static_cast<int32_t>(g)) continue;
      need -= std::min(cls == last_ ? last : CountIn(state, cls), target.most[cls]);
    }
    if (need > 0) return false;
  }
  return true;
}

std::optional<std::vector<size_t>> MemberClasses::Select(std::span<const int64_t> counts) const {
  std::vector<uint32_t> kinds;
  for (const MemberClass& it : classes_) kinds.push_back(it.kind);
  QuorumProblem problem = problem_;
  problem.kinds = of_want_;
  problem.kind_count = static_cast<uint32_t>(classes_.size());
  problem.budget = problem_.budget.PartedInto(kinds);
  return SelectQuorum(problem, counts);
}

}  // namespace maniple
