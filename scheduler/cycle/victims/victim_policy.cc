#include "scheduler/cycle/victims/victim_policy.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "api/base/sort_unique.h"

namespace maniple {
namespace {

// For each Cohort above the queue: does the demand fit into the own quota of the queue,
// or of a Cohort below this one?
std::vector<std::pair<QuotaNodeId, bool>> Advantages(const QuotaContest& contest) {
  std::vector<std::pair<QuotaNodeId, bool>> advantages;
  const QuotaTree& tree = *contest.tree;
  Demand remaining = contest.demand;
  bool advantage = false;
  for (QuotaNodeId node = contest.queue; node.valid(); node = tree.Parent(node)) {
    if (node != contest.queue) advantages.emplace_back(node, advantage);
    bool fits = true;
    for (CellAmount& rest : remaining) {
      const Amount used = tree.Usage(node, rest.cell);
      fits = fits && used + rest.amount <= tree.Quota(node, rest.cell);
      const Amount local = std::max(Amount(0), tree.Guaranteed(node, rest.cell) - used);
      rest.amount = std::max(Amount(0), rest.amount - local);
    }
    advantage = advantage || fits;
  }
  return advantages;
}

bool IsCrossQueue(VictimClaim claim) {
  switch (claim) {
    case VictimClaim::kNoQueue:
    case VictimClaim::kOwnQueue:
      return false;
    case VictimClaim::kHierarchy:
    case VictimClaim::kPriority:
    case VictimClaim::kPriorityWhileBorrowing:
    case VictimClaim::kShare:
      return true;
  }
  return false;
}

bool HasPriorityOver(const PreemptionInput& input, const RunningGang& gang,
                     WithinQueuePreemption policy) {
  switch (policy) {
    case WithinQueuePreemption::kNever:
      return false;
    case WithinQueuePreemption::kLowerPriority:
      return gang.priority < input.priority;
    case WithinQueuePreemption::kLowerOrNewerEqualPriority:
      return gang.priority < input.priority ||
             (gang.priority == input.priority && gang.queued > input.queued);
  }
  return false;
}

bool MayReclaimFrom(const PreemptionInput& input, const RunningGang& gang) {
  switch (input.policy.reclaim) {
    case ReclaimWithinCohort::kNever:
      return false;
    case ReclaimWithinCohort::kLowerPriority:
      return gang.priority < input.priority;
    case ReclaimWithinCohort::kAny:
      return true;
  }
  return false;
}

}  // namespace

QuotaContest ContestForRoom(const QuotaTree& tree, QuotaNodeId queue, Demand demand) {
  QuotaContest contest{.tree = &tree, .queue = queue, .demand = std::move(demand)};
  for (const CellAmount& cell : contest.demand) {
    if (tree.Available(queue, cell.cell) < cell.amount) contest.lacking.push_back(cell.cell);
    contest.cells.push_back(cell.cell);
  }
  return contest;
}

VictimRules::VictimRules(const PreemptionInput& input, QuotaContest contest)
    : input_(input), contest_(std::move(contest)) {
  if (contest_.tree == nullptr) return;
  work_ = contest_.tree->Whole();
  advantage_ = Advantages(contest_);
}

std::string VictimRules::WhyNever() const {
  if (contest_.tree == nullptr) return "";
  for (const CellAmount& ask : contest_.demand) {
    if (ask.amount > work_.Potential(contest_.queue, ask.cell)) {
      return "the queue could not cover it if nobody used any quota";
    }
    if (std::find(contest_.lacking.begin(), contest_.lacking.end(), ask.cell) ==
        contest_.lacking.end()) {
      continue;
    }
    if (ask.amount <= work_.Nominal(contest_.queue, ask.cell)) continue;
    if (work_.HeightOf(contest_.queue, {&ask, 1}).may_reclaim) continue;
    if (input_.policy.borrowing_preempts_lower) continue;
    if (input_.fair_sharing == FairSharing::kOn &&
        input_.policy.reclaim != ReclaimWithinCohort::kNever) {
      continue;
    }
    return "it asks for more than the queue's nominal quota, and may not preempt while borrowing";
  }
  return "";
}

const VictimRules::Path& VictimRules::PathOf(QuotaNodeId queue) {
  const auto [it, is_new] = paths_.try_emplace(queue);
  Path& path = it->second;
  if (!is_new) return path;
  for (QuotaNodeId node = queue; node.valid(); node = work_.Parent(node)) {
    if (node != queue && work_.IsWithin(contest_.queue, node)) {
      path.related = true;
      path.fork_depth = work_.Depth(node);
      path.its_side = path.below.back();
      path.own_side = contest_.queue;
      while (work_.Parent(path.own_side) != node) path.own_side = work_.Parent(path.own_side);
      for (const auto& [cohort, advantage] : advantage_) {
        if (cohort == node) path.advantage = advantage;
      }
      break;
    }
    path.below.push_back(node);
  }
  return path;
}

bool VictimRules::AllBorrow(const Path& path) const {
  return std::all_of(path.below.begin(), path.below.end(), [this](QuotaNodeId node) {
    return std::any_of(contest_.cells.begin(), contest_.cells.end(), [&](QuotaCellId cell) {
      return work_.Usage(node, cell) > work_.Quota(node, cell);
    });
  });
}

bool VictimRules::BorrowsToTheLast(const VictimCharge& unit, const Path& path) {
  work_.Remove(unit.queue, unit.surplus);
  const bool borrows = AllBorrow(path);
  work_.Add(unit.queue, unit.surplus);
  return borrows;
}

std::optional<VictimClaim> VictimRules::ClassicalClaim(const RunningGang& gang,
                                                       const Path& path) const {
  if (path.advantage) return VictimClaim::kHierarchy;
  const PreemptionPolicy& policy = input_.policy;
  const bool while_borrowing =
      policy.borrowing_preempts_lower && gang.priority < input_.priority &&
      (!policy.borrow_threshold.has_value() || gang.priority <= *policy.borrow_threshold);
  return while_borrowing ? VictimClaim::kPriorityWhileBorrowing : VictimClaim::kPriority;
}

std::optional<VictimClaim> VictimRules::ClaimOn(const RunningGang& gang) {
  if (!gang.queue.valid()) {
    if (gang.priority >= input_.priority) return std::nullopt;
    return VictimClaim::kNoQueue;
  }
  if (contest_.tree == nullptr) return std::nullopt;
  if (gang.queue == contest_.queue) {
    if (!HasPriorityOver(input_, gang, input_.policy.within)) return std::nullopt;
    return VictimClaim::kOwnQueue;
  }
  if (!MayReclaimFrom(input_, gang)) return std::nullopt;
  const Path& path = PathOf(gang.queue);
  if (!path.related || !AllBorrow(path)) return std::nullopt;
  switch (input_.fair_sharing) {
    case FairSharing::kOn:
      return VictimClaim::kShare;
    case FairSharing::kOff:
      break;
  }
  return ClassicalClaim(gang, path);
}

NoClaim VictimRules::WhyNoClaimOn(const RunningGang& gang) const {
  if (!gang.queue.valid()) return NoClaim::kPriority;
  if (contest_.tree == nullptr) return NoClaim::kHasQueue;
  if (gang.queue == contest_.queue) {
    const bool never = input_.policy.within == WithinQueuePreemption::kNever;
    return never ? NoClaim::kPolicy : NoClaim::kPriority;
  }
  if (input_.policy.reclaim == ReclaimWithinCohort::kNever) return NoClaim::kPolicy;
  return MayReclaimFrom(input_, gang) ? NoClaim::kDoesNotBorrow : NoClaim::kPriority;
}

std::vector<PreemptionMode> VictimRules::Modes(std::span<const VictimClaim> claims) const {
  if (contest_.tree == nullptr) return {{}};
  switch (input_.fair_sharing) {
    case FairSharing::kOn: {
      std::vector<PreemptionMode> modes;
      const std::span<const FairStrategy> all(input_.strategies);
      for (size_t n = 1; n <= all.size(); ++n) modes.push_back({.strategies = all.first(n)});
      if (modes.empty()) modes.push_back({});
      return modes;
    }
    case FairSharing::kOff:
      break;
  }
  const bool others = std::any_of(claims.begin(), claims.end(), IsCrossQueue);
  const bool by_hierarchy =
      std::find(claims.begin(), claims.end(), VictimClaim::kHierarchy) != claims.end();
  const bool never_while_borrowing = !input_.policy.borrowing_preempts_lower;
  const bool below_nominal =
      std::all_of(contest_.cells.begin(), contest_.cells.end(), [this](QuotaCellId cell) {
        return work_.Usage(contest_.queue, cell) < work_.Nominal(contest_.queue, cell);
      });
  const PreemptionMode borrowing{.may_borrow = true}, at_home{.may_borrow = false};
  if (!others || (never_while_borrowing && !below_nominal)) return {borrowing};
  if (never_while_borrowing && !by_hierarchy) return {at_home, borrowing};
  return {borrowing, at_home};
}

void VictimRules::Take(const VictimCharge& unit) {
  if (contest_.tree != nullptr && unit.queue.valid()) work_.Remove(unit.queue, unit.charge);
}

void VictimRules::GiveBack(const VictimCharge& unit) {
  if (contest_.tree != nullptr && unit.queue.valid()) work_.Add(unit.queue, unit.charge);
}

bool VictimRules::Fits(const PreemptionMode& mode) const {
  if (contest_.tree == nullptr) return true;
  if (!work_.Fits(contest_.queue, contest_.demand)) return false;
  return mode.may_borrow || !work_.BorrowsWith(contest_.queue, contest_.queue, contest_.demand);
}

bool VictimRules::WithinNominal(std::span<const CellAmount> more) const {
  return std::all_of(contest_.cells.begin(), contest_.cells.end(), [&](QuotaCellId cell) {
    Amount used = work_.Usage(contest_.queue, cell);
    for (const CellAmount& ask : more) {
      if (ask.cell == cell) used += ask.amount;
    }
    return used <= work_.Nominal(contest_.queue, cell);
  });
}

// REQUIRES: the preemptor is charged and the unit is not taken.
bool VictimRules::PassesShare(const VictimCharge& unit, const Path& path, FairStrategy strategy) {
  const DominantShare own = work_.ShareWith(path.own_side, contest_.queue, none_);
  switch (strategy) {
    case FairStrategy::kLessThanInitialShare: {
      work_.Remove(unit.queue, unit.surplus);
      const bool passes = own < work_.ShareWith(path.its_side, unit.queue, none_);
      work_.Add(unit.queue, unit.surplus);
      return passes;
    }
    case FairStrategy::kLessThanOrEqualToFinalShare:
      break;
  }
  work_.Remove(unit.queue, unit.charge);
  const bool passes = own <= work_.ShareWith(path.its_side, unit.queue, none_);
  work_.Add(unit.queue, unit.charge);
  return passes;
}

bool VictimRules::MayTake(const VictimCharge& unit, const PreemptionMode& mode) {
  if (!Allows(mode, unit.claim)) return false;
  if (!IsCrossQueue(unit.claim)) return true;
  const Path& path = PathOf(unit.queue);
  if (!BorrowsToTheLast(unit, path)) return false;
  if (unit.claim != VictimClaim::kShare || WithinNominal(contest_.demand)) return true;
  work_.Add(contest_.queue, contest_.demand);
  const bool passes =
      std::any_of(mode.strategies.begin(), mode.strategies.end(),
                  [&](FairStrategy strategy) { return PassesShare(unit, path, strategy); });
  work_.Remove(contest_.queue, contest_.demand);
  return passes;
}

bool VictimRules::MayTakeAlone(const VictimCharge& unit) {
  return std::ranges::any_of(Modes({&unit.claim, 1}), [&](const PreemptionMode& mode) {
    if (!MayTake(unit, mode)) return false;
    Take(unit);
    const bool borrows = work_.BorrowsWith(contest_.queue, contest_.queue, contest_.demand);
    GiveBack(unit);
    return mode.may_borrow || !borrows;
  });
}

// Gives victims back one after the other, the last taken first: each must have been
// legal when it was taken. To give one back only helps the others of the same fork,
// and leaves nearer forks as they are. So if one order gets stuck, every order does.
class VictimRules::Restoration final {
 public:
  Restoration(VictimRules& rules, std::span<const VictimCharge* const> taken,
              const PreemptionMode& mode)
      : rules_(rules), taken_(taken), mode_(mode), given_back_(taken.size(), false) {}

  Justification Run() {
    answer_.entitled = rules_.WithinNominal({});
    std::vector<size_t> own;
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]->claim == VictimClaim::kNoQueue) continue;
      if (!IsCrossQueue(taken_[i]->claim)) {
        own.push_back(i);
        continue;
      }
      left_.push_back(i);
      depths_.push_back(rules_.PathOf(taken_[i]->queue).fork_depth);
    }
    SortUnique(depths_);
    for (const int32_t depth : depths_) {
      while (Round(depth)) {
      }
    }
    answer_.illegal = left_;
    switch (rules_.input_.own_victims) {
      case OwnVictims::kAlways:
        break;
      case OwnVictims::kWithinNominal:
        if (answer_.entitled) break;
        answer_.illegal.insert(answer_.illegal.end(), own.begin(), own.end());
    }
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (given_back_[i]) rules_.Take(*taken_[i]);
    }
    return std::move(answer_);
  }

 private:
  // Gives back all that the first strategy allows; only then one that needs the second.
  bool Round(int32_t depth) {
    const size_t strategies = std::max<size_t>(1, mode_.strategies.size());
    for (size_t strategy = 0; strategy < strategies; ++strategy) {
      bool progress = false;
      std::erase_if(left_, [&](size_t i) {
        if (progress && strategy > 0) return false;
        if (rules_.PathOf(taken_[i]->queue).fork_depth != depth || !GiveBack(i, strategy)) {
          return false;
        }
        return progress = true;
      });
      if (progress) return true;
    }
    return false;
  }

  bool GiveBack(size_t i, size_t strategy) {
    const VictimCharge& unit = *taken_[i];
    if (strategy > 0 && spent_.contains(unit.queue)) return false;
    const Path& path = rules_.PathOf(unit.queue);
    rules_.GiveBack(unit);
    if (rules_.BorrowsToTheLast(unit, path) && PassesShare(unit, path, strategy)) {
      if (strategy > 0) spent_.insert(unit.queue);
      return given_back_[i] = true;
    }
    rules_.Take(unit);
    return false;
  }

  bool PassesShare(const VictimCharge& unit, const Path& path, size_t strategy) {
    if (unit.claim != VictimClaim::kShare || answer_.entitled) return true;
    if (strategy >= mode_.strategies.size()) return false;
    if (!rules_.PassesShare(unit, path, mode_.strategies[strategy])) return false;
    if (mode_.strategies[strategy] == FairStrategy::kLessThanInitialShare) {
      answer_.used_initial_share = true;
    }
    return true;
  }

  VictimRules& rules_;
  std::span<const VictimCharge* const> taken_;
  const PreemptionMode& mode_;
  std::vector<bool> given_back_;
  std::vector<size_t> left_;
  std::vector<int32_t> depths_;
  absl::flat_hash_set<QuotaNodeId> spent_;  // their victim by the second strategy is found
  Justification answer_;
};

Justification VictimRules::Justify(std::span<const VictimCharge* const> taken,
                                   const PreemptionMode& mode) {
  if (contest_.tree == nullptr) return {};
  work_.Add(contest_.queue, contest_.demand);
  Justification answer = Restoration(*this, taken, mode).Run();
  work_.Remove(contest_.queue, contest_.demand);
  return answer;
}

bool VictimRules::has_nested_forks() const {
  std::optional<int32_t> depth;
  return std::any_of(paths_.begin(), paths_.end(), [&depth](const auto& entry) {
    const Path& path = entry.second;
    if (!path.related) return false;
    if (!depth.has_value()) depth = path.fork_depth;
    return *depth != path.fork_depth;
  });
}

std::vector<DominantShare> VictimRules::ShareKey(QuotaNodeId queue) const {
  std::vector<DominantShare> key;
  for (QuotaNodeId node = queue; node.valid(); node = work_.Parent(node)) {
    key.push_back(work_.ShareWith(node, queue, none_));
  }
  std::reverse(key.begin(), key.end());
  return key;
}

}  // namespace maniple
