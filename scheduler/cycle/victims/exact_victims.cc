#include "scheduler/cycle/victims/exact_victims.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "scheduler/cycle/victims/victim_limits.h"

namespace maniple {
namespace {

constexpr size_t kMostSets = 4096;
// The most pods freed on trial, and the most whole decisions, of one search.
constexpr int64_t kMostPods = 400'000;
constexpr int64_t kMostFinds = 200;

class ExactSearch final {
 public:
  ExactSearch(VictimTrial& trial, const PreemptionMode& mode, std::span<const size_t> units)
      : trial_(trial), mode_(mode), units_(units) {
    CHECK_LE(units.size(), kMostExactUnits);
  }

  ExactAnswer Run() {
    if (!QueueSets()) return {.choice = {}, .complete = false};
    const int64_t finds = trial_.finds();
    while (!queue_.empty()) {
      if (pods_left_ < 0 || trial_.finds() - finds > kMostFinds || trial_.spent()) {
        return {.complete = false};
      }
      Set set = queue_.top();
      queue_.pop();
      std::optional<VictimChoice> choice = Try(set);
      trial_.GiveBackAll();
      if (choice.has_value()) return {.choice = std::move(choice)};
    }
    return {};
  }

 private:
  struct Set {
    VictimCost cost;
    uint32_t units = 0;   // bits: positions in units_
    bool costed = false;  // false: as if every unit were taken by entitlement
    friend bool operator>(const Set& a, const Set& b) {
      return a.cost != b.cost ? a.cost > b.cost : a.units > b.units;
    }
  };

  // Lists every set that the limits allow and that agrees with `set` before position `at`,
  // until there are too many.
  void ListSets(VictimLimits& limits, size_t at, uint32_t set, std::vector<uint32_t>& sets) {
    if (sets.size() > kMostSets) return;
    if (at == units_.size()) {
      sets.push_back(set);
      return;
    }
    ListSets(limits, at + 1, set, sets);
    if (!limits.MayTake(units_[at])) return;
    limits.Take(units_[at]);
    ListSets(limits, at + 1, set | uint32_t{1} << at, sets);
    limits.GiveBack(units_[at]);
  }
  // False: there are too many.
  bool QueueSets() {
    VictimLimits limits(trial_.input(), trial_.units());
    std::vector<uint32_t> sets;
    ListSets(limits, 0, 0, sets);
    if (sets.size() > kMostSets) return false;
    for (const uint32_t set : sets) {
      if (set != 0) queue_.push({.cost = Cost(set, Entitlement::kNominal), .units = set});
    }
    return true;
  }

  [[nodiscard]] std::vector<size_t> Listed(uint32_t set) const {
    std::vector<size_t> listed;
    for (size_t i = 0; i < units_.size(); ++i) {
      if ((set >> i) & 1) listed.push_back(units_[i]);
    }
    return listed;
  }
  [[nodiscard]] VictimCost Cost(uint32_t set, Entitlement entitlement) const {
    return CostOf(trial_.input(), trial_.units(), Listed(set), entitlement);
  }

  std::optional<VictimChoice> Try(Set& set) {
    const std::vector<size_t> listed = Listed(set.units);
    for (const size_t unit : listed) {
      pods_left_ -= trial_.units()[unit].pods;
      trial_.Take(unit);
    }
    if (!trial_.room().Enough()) return std::nullopt;
    if (!trial_.rules().Fits(mode_)) return std::nullopt;
    Justification why = trial_.Justify(mode_);
    if (!why.legal()) return std::nullopt;
    if (!set.costed && !why.entitled) {
      set.costed = true;
      VictimCost cost = Cost(set.units, Entitlement::kShare);
      if (cost != set.cost) {
        set.cost = std::move(cost);
        queue_.push(set);
        return std::nullopt;
      }
    }
    std::optional<Plan> plan = trial_.Find();
    if (!plan.has_value()) return std::nullopt;
    return VictimChoice{
        .units = listed, .plan = *std::move(plan), .why = std::move(why), .cost = set.cost};
  }

  VictimTrial& trial_;
  const PreemptionMode& mode_;
  std::span<const size_t> units_;
  std::priority_queue<Set, std::vector<Set>, std::greater<>> queue_;
  int64_t pods_left_ = kMostPods;
};

}  // namespace

ExactAnswer SearchExactly(VictimTrial& trial, const PreemptionMode& mode,
                          std::span<const size_t> units) {
  return ExactSearch(trial, mode, units).Run();
}

}  // namespace maniple
