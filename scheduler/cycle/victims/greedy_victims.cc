#include "scheduler/cycle/victims/greedy_victims.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "scheduler/cycle/victims/victim_nodes.h"

namespace maniple {
namespace {

// The number of rounds in which illegal victims are left out and the search begins anew.
constexpr int kMostGreedyRounds = 6;
// The most whole decisions of one search.
constexpr int64_t kMostGreedyFinds = 200;

// Candidates that are taken in turn: those of one Queue where shares decide,
// after one lane of all others.
struct Lane {
  QuotaNodeId queue;
  std::vector<size_t> units;  // the cheapest first
  size_t next = 0;
  std::vector<DominantShare> share;  // where shares decide; the highest first
};

struct Swap {
  size_t taken = 0;
  std::vector<size_t> instead_of;  // in the order in which they were taken
};

class GreedySearch final {
 public:
  GreedySearch(VictimTrial& trial, const PreemptionMode& mode, const GreedyAsk& ask)
      : trial_(trial),
        mode_(mode),
        ask_(ask),
        banned_(trial.units().size(), false),
        finds_at_first_(trial.finds()) {}

  std::optional<VictimChoice> Run() {
    for (int round = 0; round < kMostGreedyRounds; ++round) {
      const bool grown = Grow();
      if (grown) Spare();
      if (!grown) break;
      Justification why = trial_.Justify(mode_);
      if (why.legal()) {
        std::optional<Plan> plan = trial_.Find();
        if (!plan.has_value()) break;
        VictimChoice choice{.units = {}, .plan = *std::move(plan), .why = std::move(why)};
        choice.units.assign(trial_.taken().begin(), trial_.taken().end());
        std::sort(choice.units.begin(), choice.units.end());
        choice.cost =
            CostOf(trial_.input(), trial_.units(), choice.units, EntitlementOf(choice.why));
        trial_.GiveBackAll();
        return choice;
      }
      for (const size_t position : why.illegal) banned_[trial_.taken()[position]] = true;
      trial_.GiveBackAll();
    }
    trial_.GiveBackAll();
    return std::nullopt;
  }

 private:
  [[nodiscard]] const VictimUnit& UnitAt(size_t unit) const { return trial_.units()[unit]; }
  [[nodiscard]] bool IsOwn(size_t unit) const {
    return UnitAt(unit).charge.claim == VictimClaim::kOwnQueue;
  }
  [[nodiscard]] bool RoomEnough() const {
    return ask_.domain.has_value() ? trial_.room().EnoughIn(*ask_.domain) : trial_.room().Enough();
  }

  // By count; where a count proves nothing, by the whole decision,
  // and then only each time that twice as many units are taken.
  bool Enough() {
    if (!trial_.rules().Fits(mode_) || !RoomEnough()) return false;
    if (trial_.room().exact()) return true;
    if (trial_.taken().size() < look_at_) return false;
    look_at_ = trial_.taken().size() * 2;
    return Finds();
  }
  bool Finds() {
    return trial_.finds() - finds_at_first_ < kMostGreedyFinds && !trial_.spent() &&
           trial_.Find().has_value();
  }

  [[nodiscard]] bool Helps(size_t unit) const {
    const UnitUse& use = ask_.uses[unit];
    const bool room_lacks = !trial_.room().exact() || !RoomEnough();
    if (use.room && room_lacks) return true;
    return (use.quota || (use.share && IsOwn(unit))) && !trial_.rules().Fits(mode_);
  }

  std::vector<Lane> Lanes() const {
    std::vector<Lane> lanes;
    absl::flat_hash_map<QuotaNodeId, size_t> lane_of;
    for (const size_t unit : ask_.units) {
      const VictimCharge& charge = UnitAt(unit).charge;
      if (banned_[unit] || charge.claim == VictimClaim::kOwnQueue) continue;
      const QuotaNodeId queue = charge.claim == VictimClaim::kShare ? charge.queue : QuotaNodeId();
      const auto [it, is_new] = lane_of.try_emplace(queue, lanes.size());
      if (is_new) lanes.push_back({.queue = queue});
      lanes[it->second].units.push_back(unit);
    }
    for (Lane& lane : lanes) SortByCost(lane.units);
    return lanes;
  }
  void SortByCost(std::vector<size_t>& units) const {
    const auto key = [this](size_t index) {
      const VictimUnit& unit = UnitAt(index);
      const bool entitled = unit.charge.claim == VictimClaim::kHierarchy ||
                            unit.charge.claim == VictimClaim::kNoQueue;
      return std::make_tuple(ViolationsOf(trial_.input(), trial_.units(), {&index, 1}), !entitled,
                             unit.part == UnitPart::kWholeGang,
                             trial_.input().running[unit.running].priority, -ask_.weight[index],
                             unit.pods, unit.lost_seconds, index);
    };
    std::sort(units.begin(), units.end(), [&key](size_t a, size_t b) { return key(a) < key(b); });
  }

  // Takes the unit; a whole gang replaces its surplus units that are taken.
  bool TryTake(size_t unit) {
    if (banned_[unit] || trial_.IsTaken(unit) || trial_.spent()) return false;
    Swap swap{.taken = unit, .instead_of = {}};
    switch (UnitAt(unit).part) {
      case UnitPart::kWholeGang:
        for (const size_t other : trial_.taken()) {
          if (UnitAt(other).running == UnitAt(unit).running) swap.instead_of.push_back(other);
        }
        break;
      case UnitPart::kSurplusMember:
        break;
    }
    for (size_t i = swap.instead_of.size(); i-- > 0;) trial_.GiveBack(swap.instead_of[i]);
    if (trial_.MayTake(unit) && trial_.rules().MayTake(UnitAt(unit).charge, mode_)) {
      trial_.Take(unit);
      swaps_.push_back(std::move(swap));
      return true;
    }
    for (const size_t other : swap.instead_of) trial_.Take(other);
    return false;
  }
  void UndoTo(size_t swaps) {
    for (; swaps_.size() > swaps; swaps_.pop_back()) {
      trial_.GiveBack(swaps_.back().taken);
      for (const size_t other : swaps_.back().instead_of) trial_.Take(other);
    }
  }

  // Takes units until they suffice: units of others first, then own ones, then others' again, which
  // fewer own ones may have made legal.
  bool Grow() {
    look_at_ = 1;
    swaps_.clear();
    std::vector<size_t> own;
    for (const size_t unit : ask_.units) {
      if (IsOwn(unit) && !banned_[unit]) own.push_back(unit);
    }
    SortByCost(own);
    if (Enough() || (BeginsWithNodes() && FreeNodes(Of::kOthers)) || TakeFromOthers()) {
      return true;
    }
    if (BeginsWithNodes() && FreeNodes(Of::kAll)) return true;
    size_t before = 0;
    do {
      before = trial_.taken().size();
      for (const size_t unit : own) {
        if (Helps(unit) && TryTake(unit) && Enough()) return true;
      }
      if (TakeFromOthers()) return true;
    } while (trial_.taken().size() > before);
    look_at_ = 0;
    return Enough();
  }

  enum class Of : uint8_t { kOthers, kAll };
  bool BeginsWithNodes() const {
    switch (ask_.start) {
      case GreedyStart::kCheapestUnits:
        return false;
      case GreedyStart::kCheapestNodes:
        break;
    }
    return !RoomEnough();
  }

  // Frees the best node, and again, until the gang fits.
  bool FreeNodes(Of whose) {
    std::vector<size_t> units;
    for (const size_t unit : ask_.units) {
      if (!banned_[unit] && (whose == Of::kAll || !IsOwn(unit))) units.push_back(unit);
    }
    VictimNodes nodes(trial_, units, ask_.gain, ask_.domain);
    while (!RoomEnough()) {
      const std::vector<VictimNodes::Occupant> occupants = nodes.Next();
      if (occupants.empty()) break;
      const size_t before = swaps_.size();
      if (std::ranges::all_of(occupants, [this](const auto& it) { return MakeLeave(it); })) {
        nodes.NoteFreed();
        continue;
      }
      UndoTo(before);
      nodes.Refuse();
    }
    return Enough();
  }

  // Its members on the node alone, if it can spare them; else the whole gang.
  bool MakeLeave(const VictimNodes::Occupant& occupant) {
    const size_t before = swaps_.size();
    const bool spares =
        !occupant.members.empty() && std::ranges::all_of(occupant.members, [this](size_t unit) {
          return trial_.IsTaken(unit) || TryTake(unit);
        });
    if (spares) return true;
    UndoTo(before);
    return occupant.whole.has_value() && TryTake(*occupant.whole);
  }

  bool TakeFromOthers() {
    std::vector<Lane> lanes = Lanes();
    const auto measure = [this](Lane& lane) {
      if (lane.queue.valid()) lane.share = trial_.rules().ShareKey(lane.queue);
    };
    for (Lane& lane : lanes) measure(lane);
    while (true) {
      Lane* best = nullptr;
      for (Lane& lane : lanes) {
        if (lane.next == lane.units.size()) continue;
        const bool first = best == nullptr || !lane.queue.valid() ||
                           (best->queue.valid() && best->share < lane.share);
        if (first) best = &lane;
      }
      if (best == nullptr) return false;
      const size_t unit = best->units[best->next++];
      if (!Helps(unit) || !TryTake(unit)) continue;
      if (Enough()) return true;
      for (Lane& lane : lanes) measure(lane);
    }
  }

  // Gives back units that turn out to be needless, the last taken first.
  // Takes only surplus of a whole gang where that does.
  void Spare() {
    std::vector<size_t> order(trial_.taken().begin(), trial_.taken().end());
    std::reverse(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t unit = order[i];
      if (!trial_.IsTaken(unit) || !trial_.EndsChain(unit)) continue;
      trial_.GiveBack(unit);
      if (SufficesWithout(unit)) continue;
      const std::vector<size_t> surplus = SurplusInsteadOf(unit);
      if (surplus.empty()) trial_.Take(unit);
      order.insert(order.end(), surplus.rbegin(), surplus.rend());
    }
  }
  // Takes surplus of the gang until that suffices; none: it does not, and none is taken.
  std::vector<size_t> SurplusInsteadOf(size_t whole) {
    switch (UnitAt(whole).part) {
      case UnitPart::kSurplusMember:
        return {};
      case UnitPart::kWholeGang:
        break;
    }
    std::vector<size_t> surplus, taken;
    for (const size_t unit : ask_.units) {
      const bool same = UnitAt(unit).running == UnitAt(whole).running;
      if (same && unit != whole) surplus.push_back(unit);
    }
    SortByCost(surplus);
    for (const size_t unit : surplus) {
      if (!Helps(unit) || !TryTake(unit)) continue;
      taken.push_back(unit);
      if (SufficesWithout(whole)) return taken;
    }
    for (size_t i = taken.size(); i-- > 0;) trial_.GiveBack(taken[i]);
    return {};
  }
  bool SufficesWithout(size_t unit) {
    if (!trial_.rules().Fits(mode_) || !RoomEnough()) return false;
    // Victims by share may be legal only because an own one, or one nearer in the tree, is gone.
    if (!mode_.strategies.empty() && (IsOwn(unit) || trial_.rules().has_nested_forks()) &&
        !trial_.Justify(mode_).legal()) {
      return false;
    }
    return trial_.room().exact() || Finds();
  }

  VictimTrial& trial_;
  const PreemptionMode& mode_;
  const GreedyAsk& ask_;
  std::vector<bool> banned_;
  std::vector<Swap> swaps_;  // the swaps of Grow so far
  int64_t finds_at_first_;
  size_t look_at_ = 1;
};

}  // namespace

std::optional<VictimChoice> SearchGreedily(VictimTrial& trial, const PreemptionMode& mode,
                                           const GreedyAsk& ask) {
  return GreedySearch(trial, mode, ask).Run();
}

}  // namespace maniple
