#include "scheduler/cycle/greedy_victims.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "scheduler/cycle/victim_nodes.h"

namespace maniple {
namespace {

// How often victims that turn out illegal are left out and the search is begun anew.
constexpr int kMostRounds = 6;
// Whole decisions that one search may spend.
constexpr int64_t kMostFinds = 200;

// Candidates that are taken from in turn: those of one Queue where shares decide, else all.
struct Lane {
  QuotaNodeId queue;
  std::vector<size_t> units;  // the cheapest first
  size_t next = 0;
  std::vector<DominantShare> share;  // where shares decide; the highest first
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
    for (int round = 0; round < kMostRounds; ++round) {
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
        choice.cost = CostOf(trial_.input(), trial_.units(), choice.units,
                             choice.why.entitled ? Entitlement::kNominal : Entitlement::kShare);
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

  // By count, and by the whole decision where a count proves nothing: then not after each unit, but
  // each time that twice as many are taken.
  bool Enough() {
    if (!trial_.rules().Fits(mode_) || !RoomEnough()) return false;
    if (trial_.room().exact()) return true;
    if (trial_.taken().size() < look_at_) return false;
    look_at_ = trial_.taken().size() * 2;
    return Finds();
  }
  bool Finds() {
    return trial_.finds() - finds_at_first_ < kMostFinds && trial_.Find().has_value();
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
      return std::make_tuple(!entitled, unit.part == UnitPart::kRest,
                             trial_.input().running[unit.running].priority, -ask_.weight[index],
                             unit.pods, unit.lost_seconds, index);
    };
    std::sort(units.begin(), units.end(), [&key](size_t a, size_t b) { return key(a) < key(b); });
  }

  // Takes units until they suffice: others' first, then own ones, then others' again, which fewer
  // own ones may have made legal.
  bool Grow() {
    look_at_ = 1;
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
        if (!trial_.MayTake(unit) || !Helps(unit)) continue;
        trial_.Take(unit);
        if (Enough()) return true;
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
      const std::optional<std::vector<size_t>> bundle = nodes.Next();
      if (!bundle.has_value()) break;
      size_t taken = 0;
      for (; taken < bundle->size(); ++taken) {
        const size_t unit = (*bundle)[taken];
        if (banned_[unit] || !trial_.MayTake(unit)) break;
        if (!trial_.rules().MayTake(UnitAt(unit).charge, mode_)) break;
        trial_.Take(unit);
      }
      if (taken == bundle->size()) {
        for (const size_t unit : *bundle) nodes.NoteTaken(unit);
        continue;
      }
      while (taken > 0) trial_.GiveBack((*bundle)[--taken]);
      nodes.Refuse();
    }
    return Enough();
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
        if (best == nullptr || best->share < lane.share) best = &lane;
      }
      if (best == nullptr) return false;
      const size_t unit = best->units[best->next++];
      if (!trial_.MayTake(unit) || !Helps(unit)) continue;
      if (!trial_.rules().MayTake(UnitAt(unit).charge, mode_)) continue;
      trial_.Take(unit);
      if (Enough()) return true;
      for (Lane& lane : lanes) measure(lane);
    }
  }

  // Gives back, the last taken first, what is not needed after all.
  void Spare() {
    std::vector<size_t> order(trial_.taken().begin(), trial_.taken().end());
    std::reverse(order.begin(), order.end());
    for (const size_t unit : order) {
      if (!trial_.EndsChain(unit)) continue;
      trial_.GiveBack(unit);
      if (!SufficesWithout(unit)) trial_.Take(unit);
    }
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
  int64_t finds_at_first_;
  size_t look_at_ = 1;
};

}  // namespace

std::optional<VictimChoice> SearchGreedily(VictimTrial& trial, const PreemptionMode& mode,
                                           const GreedyAsk& ask) {
  return GreedySearch(trial, mode, ask).Run();
}

}  // namespace maniple
