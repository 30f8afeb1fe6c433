#include "scheduler/cycle/victims/victim_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/cycle/victims/exact_victims.h"
#include "scheduler/cycle/victims/greedy_victims.h"

namespace maniple {
namespace {

// The most domains in which a greedy search runs.
constexpr size_t kMostDomains = 16;
// The most units among which a choice is improved, its own included.
constexpr size_t kMostRivals = 12;

}  // namespace

std::vector<size_t> VictimSearch::Everything() const {
  std::vector<size_t> units;
  std::optional<size_t> whole;  // the running gang
  for (size_t unit = trial_.units().size(); unit-- > 0;) {
    const VictimUnit& it = trial_.units()[unit];
    if (whole == it.running) continue;
    if (it.part == UnitPart::kWholeGang) whole = it.running;
    units.push_back(unit);
  }
  std::reverse(units.begin(), units.end());
  return units;
}

VictimSearch::Outlook VictimSearch::LookAhead() {
  std::vector<int64_t> room_now(trial_.input().decide.snapshot.blocks.size() * kBlockNodes, 0);
  crowd_.assign(room_now.size(), 0);
  gain_.assign(room_now.size(), 0);
  const FreedRoomCount& room = trial_.room();
  const std::vector<size_t> everything = Everything();
  for (const size_t unit : everything) {
    for (const FreedRoom& pod : trial_.units()[unit].room) {
      if (++crowd_[pod.node.index()] == 1) room_now[pod.node.index()] = room.RoomAt(pod.node);
    }
  }
  std::vector<std::pair<int64_t, uint32_t>> domains;
  for (uint32_t d = 0; d < room.domain_count(); ++d) domains.emplace_back(-room.RoomIn(d), d);

  for (const size_t unit : everything) trial_.Take(unit);
  std::erase_if(domains, [&room](const auto& entry) { return !room.EnoughIn(entry.second); });
  std::sort(domains.begin(), domains.end());
  for (const auto& entry : domains) domains_.push_back(entry.second);
  for (uint32_t node = 0; node < crowd_.size(); ++node) {
    if (crowd_[node] > 0) gain_[node] = room.RoomAt(NodeId(node)) - room_now[node];
  }
  Outlook outlook = Outlook::kMayHelp;
  if (domains_.empty() ||
      (!room.exact() && trial_.rules().Fits({}) && !trial_.Find().has_value())) {
    outlook = trial_.gave_up() ? Outlook::kUnclear : Outlook::kRoomLacks;
  }
  if (!trial_.rules().Fits({})) outlook = Outlook::kQuotaLacks;
  trial_.GiveBackAll();
  LearnUses();
  return outlook;
}

void VictimSearch::LearnUses() {
  const QuotaContest& contest = trial_.rules().contest();
  const auto charges = [](const VictimUnit& unit, const std::vector<QuotaCellId>& cells) {
    return std::any_of(unit.charge.charge.begin(), unit.charge.charge.end(),
                       [&cells](const CellAmount& amount) {
                         return std::find(cells.begin(), cells.end(), amount.cell) != cells.end();
                       });
  };
  const FreedRoomCount& room = trial_.room();
  const bool room_may_lack = !room.exact() || !room.Enough();
  for (const VictimUnit& unit : trial_.units()) {
    UnitUse use{.quota = charges(unit, contest.lacking), .share = charges(unit, contest.cells)};
    use.room =
        room_may_lack && std::any_of(unit.room.begin(), unit.room.end(), [&](const FreedRoom& pod) {
          return gain_[pod.node.index()] > 0 || !room.exact();
        });
    uses_.push_back(use);
  }
}

std::vector<size_t> VictimSearch::Useful(const PreemptionMode& mode, Strictness how) const {
  std::vector<size_t> units;
  for (size_t unit = 0; unit < uses_.size(); ++unit) {
    const UnitUse& use = uses_[unit];
    bool useful = use.room || use.quota;
    switch (how) {
      case Strictness::kAnyUse:
        useful = useful || use.share;
        break;
      case Strictness::kDirectUse:
        break;
    }
    if (useful && VictimRules::Allows(mode, trial_.units()[unit].charge.claim)) {
      units.push_back(unit);
    }
  }
  return units;
}

std::vector<int64_t> VictimSearch::Weights(std::optional<uint32_t> domain) const {
  constexpr int64_t kPart = 1024;  // a node's gain is shared among the pods that stand there
  std::vector<int64_t> weights;
  for (size_t unit = 0; unit < uses_.size(); ++unit) {
    int64_t& weight = weights.emplace_back(0);
    if (!uses_[unit].room) continue;
    for (const FreedRoom& pod : trial_.units()[unit].room) {
      if (domain.has_value() && trial_.room().DomainOf(pod.node) != *domain) continue;
      weight += kPart * gain_[pod.node.index()] / crowd_[pod.node.index()];
    }
  }
  return weights;
}

std::optional<VictimChoice> VictimSearch::RunGreedily(const PreemptionMode& mode,
                                                      const std::vector<size_t>& units) {
  std::optional<VictimChoice> best;
  if (domains_.size() > kMostDomains) complete_ = false;
  for (size_t i = 0; i < std::min(kMostDomains, domains_.size()); ++i) {
    std::optional<uint32_t> domain;
    std::vector<UnitUse> uses = uses_;
    if (trial_.room().by_domain()) domain = domains_[i];
    const std::vector<int64_t> weights = Weights(domain);
    if (domain.has_value() && trial_.room().exact()) {
      for (size_t unit = 0; unit < uses.size(); ++unit) {
        uses[unit].room = uses[unit].room && weights[unit] > 0;
      }
    }
    for (const GreedyStart start : {GreedyStart::kCheapestUnits, GreedyStart::kCheapestNodes}) {
      std::optional<VictimChoice> choice = SearchGreedily(trial_, mode,
                                                          {.start = start,
                                                           .units = units,
                                                           .uses = uses,
                                                           .weight = weights,
                                                           .gain = gain_,
                                                           .domain = domain});
      if (!choice.has_value()) continue;
      if (!best.has_value() || choice->cost < best->cost) best = std::move(choice);
      if (trial_.room().Enough()) break;  // only quota is short
    }
  }
  return best;
}

void VictimSearch::Improve(const PreemptionMode& mode, const std::vector<size_t>& units,
                           VictimChoice& choice) {
  if (choice.units.size() >= kMostRivals) return;
  std::vector<size_t> few = choice.units;
  const std::vector<int64_t> weights = Weights(std::nullopt);
  const auto key = [&](size_t unit) {
    const VictimUnit& it = trial_.units()[unit];
    const std::vector<size_t> alone{unit};
    const VictimCost cost = CostOf(trial_.input(), trial_.units(), alone, Entitlement::kNominal);
    return std::make_tuple(cost.violations, cost.own_gangs, it.part == UnitPart::kWholeGang,
                           trial_.input().running[it.running].priority, -weights[unit], it.pods,
                           unit);
  };
  std::vector<size_t> rivals;
  for (const size_t unit : units) {
    const bool in_chain = trial_.units()[unit].after.has_value();
    if (!in_chain && std::find(few.begin(), few.end(), unit) == few.end()) rivals.push_back(unit);
  }
  const size_t room = std::min(rivals.size(), kMostRivals - few.size());
  std::partial_sort(rivals.begin(), rivals.begin() + static_cast<int64_t>(room), rivals.end(),
                    [&key](size_t a, size_t b) { return key(a) < key(b); });
  few.insert(few.end(), rivals.begin(), rivals.begin() + static_cast<int64_t>(room));
  std::sort(few.begin(), few.end());
  ExactAnswer exact = SearchExactly(trial_, mode, few);
  if (exact.choice.has_value() && exact.choice->cost < choice.cost) {
    choice = *std::move(exact.choice);
  }
}

std::optional<VictimChoice> VictimSearch::Run(const PreemptionMode& mode) {
  const std::vector<size_t> any = Useful(mode, Strictness::kAnyUse);
  if (any.size() <= kMostExactUnits) {
    ExactAnswer exact = SearchExactly(trial_, mode, any);
    if (exact.complete || exact.choice.has_value()) return std::move(exact.choice);
  }
  const std::vector<size_t> direct = Useful(mode, Strictness::kDirectUse);
  if (direct.size() <= kMostExactUnits && direct.size() < any.size()) {
    ExactAnswer exact = SearchExactly(trial_, mode, direct);
    if (exact.choice.has_value()) return std::move(exact.choice);
  }
  complete_ = false;
  std::optional<VictimChoice> choice = RunGreedily(mode, any);
  if (choice.has_value()) Improve(mode, any, *choice);
  return choice;
}

}  // namespace maniple
