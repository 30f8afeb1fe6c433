#include "test/oracle/cycle/naive_preemption.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace maniple {

class NaivePreemption::Search final {
 public:
  Search(PreemptionCase& world, const Options& options)
      : world_(world), snapshot_(world.cluster.state().Publish()), ask_(world.ask) {
    ask_.options = options;
    queue_ = ask_.queue;
    for (const Want& want : world_.request.wants) {
      for (const CellAmount& each : ask_.options.at(want.shape).front().each) {
        demand_[each.cell] += each.amount;
      }
    }
    LearnContest();
    for (size_t g = 0; g < world_.running.size(); ++g) ListGang(g);
  }

  // All sets that are legal and suffice, in the first mode that has any.
  [[nodiscard]] std::map<uint32_t, NaiveCost> Good(Reach reach) {
    reach_ = reach;
    if (!MayPreempt()) return {};
    for (const Mode& mode : Modes()) {
      std::map<uint32_t, NaiveCost> good;
      for (const uint32_t set : Legal(mode)) {
        if (Suffices(set, mode)) good.emplace(set, CostOf(set));
      }
      if (!good.empty()) return good;
    }
    return {};
  }
  // None: somebody goes who may never go.
  [[nodiscard]] std::optional<uint32_t> SetOf(const PreemptionPlan& plan) const {
    uint32_t set = 0;
    for (const Victim& victim : plan.victims) {
      for (const PodId pod : victim.pods) {
        const auto at = std::ranges::find(pods_, pod, [](const VictimPod* it) { return it->pod; });
        if (at == pods_.end()) return std::nullopt;
        set |= uint32_t{1} << (at - pods_.begin());
      }
    }
    return set;
  }

 private:
  struct Mode {
    bool may_borrow = true;
    std::vector<FairStrategy> strategies;
  };
  // A gang that the policies let be a victim.
  struct Candidate {
    size_t running = 0;
    size_t first = 0;  // of its pods in pods_
    uint32_t all = 0;  // bits
    bool own = false, cross = false;
    bool hierarchical = false;
    bool while_borrowing = false;
  };
  // What leaves at one stroke.
  struct Step {
    const Candidate* gang = nullptr;
    uint32_t pods = 0;
  };

  const RunningGang& GangOf(const Candidate& gang) const { return world_.running[gang.running]; }
  DecideInput Input(const QuotaAsk* ask, std::span<const FreedRoom> freed) const {
    return {.snapshot = *snapshot_,
            .request = world_.request,
            .now = world_.cluster.now,
            .quota = world_.in_queue ? ask : nullptr,
            .freed = freed};
  }
  Demand DemandList() const {
    Demand list;
    for (const auto& [cell, amount] : demand_) list.push_back({.cell = cell, .amount = amount});
    return list;
  }
  void LearnContest() {
    if (!world_.in_queue) return;
    for (const auto& [cell, amount] : demand_) {
      if (world_.tree.Available(queue_, cell) < amount) short_.push_back(cell);
    }
    QuotaAsk unlimited = ask_;
    for (auto& [shape, options] : unlimited.options) options.front().each.clear();
    const bool room = FindPlan(Input(&unlimited, {}), world_.cluster.profile()).has_value();
    contested_ = short_;
    room_is_short_ = !room;
    if (short_.empty() || !room) {
      contested_.clear();
      for (const auto& [cell, amount] : demand_) contested_.push_back(cell);
    }
  }
  bool MayPreempt() const {
    if (!world_.in_queue) return true;
    for (const auto& [cell, amount] : demand_) {
      if (amount > world_.tree.Potential(queue_, cell)) return false;
      if (std::find(short_.begin(), short_.end(), cell) == short_.end()) continue;
      const CellAmount ask{.cell = cell, .amount = amount};
      const bool may = amount <= world_.tree.Nominal(queue_, cell) ||
                       world_.tree.HeightOf(queue_, {&ask, 1}).may_reclaim ||
                       world_.policy.borrowing_preempts_lower ||
                       (world_.fair_sharing == FairSharing::kOn &&
                        world_.policy.reclaim != ReclaimWithinCohort::kNever);
      if (!may) return false;
    }
    return true;
  }
  QuotaNodeId Fork(QuotaNodeId a) const {
    while (a.valid() && !world_.tree.IsWithin(queue_, a)) a = world_.tree.Parent(a);
    return a;
  }
  QuotaNodeId ChildTowards(QuotaNodeId fork, QuotaNodeId queue) const {
    while (world_.tree.Parent(queue) != fork) queue = world_.tree.Parent(queue);
    return queue;
  }
  bool Borrows(const QuotaTree& tree, QuotaNodeId queue) const {
    for (QuotaNodeId node = queue; node != Fork(queue); node = tree.Parent(node)) {
      bool over = false;
      for (const QuotaCellId cell : contested_) {
        over = over || tree.Usage(node, cell) > tree.Quota(node, cell);
      }
      if (!over) return false;
    }
    return true;
  }
  // Does the preemptor's side have enough of its own somewhere below the fork?
  bool Advantage(QuotaNodeId fork) const {
    std::map<QuotaCellId, Amount> rest = demand_;
    for (QuotaNodeId node = queue_; node != fork; node = world_.tree.Parent(node)) {
      bool fits = true;
      for (auto& [cell, amount] : rest) {
        const Amount room = world_.tree.Quota(node, cell) - world_.tree.Usage(node, cell);
        fits = fits && amount <= room;
        const Amount local = world_.tree.Guaranteed(node, cell) - world_.tree.Usage(node, cell);
        if (local > Amount(0)) amount = std::max(Amount(0), amount - local);
      }
      if (fits) return true;
    }
    return false;
  }
  bool Eligible(const RunningGang& gang, Candidate& candidate) const {
    if (gang.protected_until > world_.cluster.now) return false;
    const bool lower = gang.priority < world_.priority;
    if (!gang.queue.valid()) return lower;
    if (!world_.in_queue) return false;
    if (gang.queue == queue_) {
      candidate.own = true;
      const bool newer = gang.priority == world_.priority && gang.queued > world_.queued;
      if (world_.policy.within == WithinQueuePreemption::kNever) return false;
      return lower ||
             (newer && world_.policy.within == WithinQueuePreemption::kLowerOrNewerEqualPriority);
    }
    candidate.cross = true;
    if (world_.policy.reclaim == ReclaimWithinCohort::kNever) return false;
    if (world_.policy.reclaim == ReclaimWithinCohort::kLowerPriority && !lower) return false;
    candidate.hierarchical = Advantage(Fork(gang.queue));
    candidate.while_borrowing =
        world_.policy.borrowing_preempts_lower && lower &&
        gang.priority <= world_.policy.borrow_threshold.value_or(gang.priority);
    return Borrows(world_.tree, gang.queue);
  }
  void ListGang(size_t g) {
    const RunningGang& gang = world_.running[g];
    Candidate candidate{.running = g, .first = pods_.size()};
    if (!Eligible(gang, candidate)) return;
    for (const VictimPod& pod : gang.members) {
      candidate.all |= uint32_t{1} << pods_.size();
      pods_.push_back(&pod);
    }
    candidates_.push_back(candidate);
  }

  // The gang goes whole when these of its pods are gone, not only surplus.
  bool IsWhole(const Candidate& gang, uint32_t set) const {
    return !world_.quorums[gang.running].StandsWithout((set & gang.all) >> gang.first);
  }
  // The pod and what leaves with it; none: it is not of the gang.
  uint32_t UnitBits(const Candidate& gang, size_t pod) const {
    const uint32_t bit = uint32_t{1} << pod;
    if ((gang.all & bit) == 0 || pods_[pod]->unit < 0) return gang.all & bit;
    uint32_t bits = 0;
    for (size_t p = 0; p < pods_.size(); ++p) {
      const bool same = pods_[p]->unit == pods_[pod]->unit;
      if (same && ((gang.all >> p) & 1) != 0) bits |= uint32_t{1} << p;
    }
    return bits;
  }
  // What may leave next when these are gone.
  std::vector<Step> StepsFrom(uint32_t set) const {
    std::vector<Step> steps;
    for (const Candidate& gang : candidates_) {
      if ((set & gang.all) == 0 && IsWhole(gang, gang.all)) {
        steps.push_back({.gang = &gang, .pods = gang.all});
      }
      for (size_t p = 0; p < pods_.size(); ++p) {
        const uint32_t bits = UnitBits(gang, p);
        const bool is_first = std::countr_zero(bits) == static_cast<int>(p);
        if (!is_first || (set & bits) != 0 || IsWhole(gang, set | bits)) continue;
        steps.push_back({.gang = &gang, .pods = bits});
      }
    }
    std::erase_if(steps, [&](const Step& step) {
      return !WithinBudgets(set | step.pods, true) ||
             (reach_ == Reach::kContested && !UsesContested(step.pods));
    });
    return steps;
  }
  // Room on a node that some member may use, or quota.
  bool UsesContested(uint32_t pods) const {
    if (!world_.in_queue) return true;
    for (const CellAmount& charge : ChargeOf(pods)) {
      if (std::ranges::find(contested_, charge.cell) != contested_.end()) return true;
    }
    bool stands_there = false;
    for (size_t p = 0; p < pods_.size(); ++p) {
      if (((pods >> p) & 1) == 0) continue;
      for (const auto& [shape, options] : ask_.options) {
        const std::optional<NodeSet>& nodes = options.front().nodes;
        stands_there =
            stands_there || !nodes.has_value() || (*nodes)[0].Test(RowOf(pods_[p]->node));
      }
    }
    return room_is_short_ && stands_there;
  }
  Demand ChargeOf(uint32_t pods) const {
    std::map<QuotaCellId, Amount> sum;
    for (size_t p = 0; p < pods_.size(); ++p) {
      if (((pods >> p) & 1) == 0) continue;
      for (const CellAmount& charge : pods_[p]->charge) sum[charge.cell] += charge.amount;
    }
    Demand list;
    for (const auto& [cell, amount] : sum) list.push_back({.cell = cell, .amount = amount});
    return list;
  }

  std::vector<Mode> Modes() const {
    if (!world_.in_queue) return {{}};
    if (world_.fair_sharing == FairSharing::kOn) {
      std::vector<Mode> modes;
      for (size_t n = 1; n <= world_.strategies.size(); ++n) {
        modes.push_back({.strategies = {world_.strategies.begin(),
                                        world_.strategies.begin() + static_cast<int64_t>(n)}});
      }
      if (modes.empty()) modes.push_back({});
      return modes;
    }
    bool cross = false, hierarchical = false, below = true;
    for (const Step& step : StepsFrom(0)) {
      cross = cross || step.gang->cross;
      hierarchical = hierarchical || (step.gang->cross && step.gang->hierarchical);
    }
    for (const QuotaCellId cell : contested_) {
      below = below && world_.tree.Usage(queue_, cell) < world_.tree.Nominal(queue_, cell);
    }
    const bool forbidden = !world_.policy.borrowing_preempts_lower;
    if (!cross || (forbidden && !below)) return {{.may_borrow = true}};
    if (forbidden && !hierarchical) return {{.may_borrow = false}, {.may_borrow = true}};
    return {{.may_borrow = true}, {.may_borrow = false}};
  }
  QuotaTree Without(uint32_t set) const {
    QuotaTree tree = world_.tree;
    for (const Candidate& gang : candidates_) {
      const Demand charge = ChargeOf(set & gang.all);
      if (!charge.empty()) tree.Remove(GangOf(gang).queue, charge);
    }
    return tree;
  }
  // By pod: the budgets of which gangs may be passed; while sets are still growing, as if the
  // preemptor's Queue were to stay within nominal.
  uint32_t PastBudgets(bool entitled) const {
    uint32_t past = 0;
    for (const Candidate& gang : candidates_) {
      const bool by_hierarchy = world_.fair_sharing == FairSharing::kOff && gang.hierarchical;
      const bool reclaimed = gang.cross && (entitled || by_hierarchy);
      if (world_.ignore_pdb == IgnorePdb::kAlways ||
          (world_.ignore_pdb == IgnorePdb::kReclaim && reclaimed)) {
        past |= gang.all;
      }
    }
    return past;
  }
  bool WithinBudgets(uint32_t set, bool entitled) const {
    return ViolationsOf(set & ~PastBudgets(entitled)) == 0;
  }
  int64_t ViolationsOf(uint32_t set) const {
    std::vector<int32_t> left = world_.allowed;
    int64_t violations = 0;
    for (size_t p = 0; p < pods_.size(); ++p) {
      if (((set >> p) & 1) == 0 || pods_[p]->budgets.empty()) continue;
      if (pods_[p]->budgets.size() > 1 || --left[pods_[p]->budgets.front()] < 0) ++violations;
    }
    return violations;
  }
  bool Entitled(const QuotaTree& tree) const {
    for (const QuotaCellId cell : contested_) {
      if (tree.Usage(queue_, cell) + demand_.at(cell) > tree.Nominal(queue_, cell)) return false;
    }
    return true;
  }
  bool PassesShare(const Step& step, QuotaTree tree, FairStrategy strategy) const {
    const QuotaNodeId queue = GangOf(*step.gang).queue;
    const QuotaNodeId fork = Fork(queue);
    tree.Add(queue_, DemandList());
    const DominantShare own = tree.ShareWith(ChildTowards(fork, queue_), queue_, {});
    if (strategy == FairStrategy::kLessThanInitialShare) {
      return own < tree.ShareWith(ChildTowards(fork, queue), queue, {});
    }
    tree.Remove(queue, ChargeOf(step.pods));
    return own <= tree.ShareWith(ChildTowards(fork, queue), queue, {});
  }

  // Sets that some order reaches, one step after the other; with each the Queues whose one victim
  // by the second strategy is spent.
  std::vector<uint32_t> Legal(const Mode& mode) const {
    std::map<uint32_t, std::map<uint32_t, bool>> reached{{0, {{0, true}}}};
    std::vector<uint32_t> legal;
    for (auto at = reached.begin(); at != reached.end(); ++at) {
      const uint32_t set = at->first;
      if (set != 0) legal.push_back(set);
      const QuotaTree tree = Without(set);
      for (const Step& step : StepsFrom(set)) {
        for (const auto& [spent, _] : at->second) {
          for (const uint32_t then : Spent(step, tree, mode, spent)) {
            reached[set | step.pods][then] = true;
          }
        }
      }
    }
    return legal;
  }
  // The surplus of a gang that stands in full: the last in rank.
  uint32_t SurplusBits(const Candidate& gang) const {
    uint32_t surplus = 0;
    for (size_t p = pods_.size(); p-- > 0;) {
      const uint32_t bits = UnitBits(gang, p);
      if (!IsWhole(gang, surplus | bits)) surplus |= bits;
    }
    return surplus;
  }
  // What may be spent after a step; empty: it is not legal. What a gang that goes whole has beyond
  // its surplus must be legal when that is gone.
  std::vector<uint32_t> Spent(const Step& step, const QuotaTree& tree, const Mode& mode,
                              uint32_t spent) const {
    if (!step.gang->cross) return {spent};
    const uint32_t surplus = SurplusBits(*step.gang);
    if (step.pods != step.gang->all || surplus == 0 || surplus == step.gang->all) {
      return SpentAtOnce(step, tree, mode, spent);
    }
    QuotaTree rest = tree;
    rest.Remove(GangOf(*step.gang).queue, ChargeOf(surplus));
    return SpentAtOnce({.gang = step.gang, .pods = step.pods & ~surplus}, rest, mode, spent);
  }
  std::vector<uint32_t> SpentAtOnce(const Step& step, const QuotaTree& tree, const Mode& mode,
                                    uint32_t spent) const {
    const QuotaNodeId queue = GangOf(*step.gang).queue;
    if (!Borrows(tree, queue)) return {};
    if (world_.fair_sharing == FairSharing::kOff) {
      if (step.gang->hierarchical || step.gang->while_borrowing || !mode.may_borrow) return {spent};
      return {};
    }
    if (Entitled(tree)) return {spent};
    std::vector<uint32_t> then;
    const uint32_t bit = uint32_t{1} << queue.index();
    for (size_t s = 0; s < mode.strategies.size(); ++s) {
      if (!PassesShare(step, tree, mode.strategies[s])) continue;
      if (s == 0) then.push_back(spent);
      if (s > 0 && (spent & bit) == 0) then.push_back(spent | bit);
    }
    return then;
  }
  bool Suffices(uint32_t set, const Mode& mode) const {
    const QuotaTree tree = Without(set);
    if (!WithinBudgets(set, world_.in_queue && Entitled(tree))) return false;
    if (world_.in_queue) {
      if (!tree.Fits(queue_, DemandList())) return false;
      if (!mode.may_borrow && tree.BorrowsWith(queue_, queue_, DemandList())) return false;
      const bool own = std::ranges::any_of(
          candidates_, [set](const Candidate& gang) { return gang.own && (set & gang.all) != 0; });
      if (own && world_.own_victims == OwnVictims::kWithinNominal && !Entitled(tree)) return false;
    }
    std::vector<FreedRoom> freed;
    for (size_t p = 0; p < pods_.size(); ++p) {
      if (((set >> p) & 1) == 0) continue;
      freed.push_back({.node = pods_[p]->node, .shape = pods_[p]->shape});
    }
    QuotaAsk ask = ask_;
    ask.tree = &tree;
    return FindPlan(Input(&ask, freed), world_.cluster.profile()).has_value();
  }
  NaiveCost CostOf(uint32_t set) const {
    constexpr int64_t kNone = -1'000;
    int64_t own_gangs = 0, own_surplus = 0, unentitled = 0, gangs = 0, pods = 0, lost = 0;
    int64_t highest = kNone, highest_surplus = kNone;
    std::vector<int> priorities;
    std::vector<size_t> names, ranks;
    const bool entitled = world_.in_queue && Entitled(Without(set));
    for (const Candidate& candidate : candidates_) {
      const uint32_t gone = set & candidate.all;
      if (gone == 0) continue;
      const RunningGang& gang = GangOf(candidate);
      const bool whole = IsWhole(candidate, gone);
      const int64_t units = whole ? 1 : std::popcount(gone);
      gangs += whole;
      (whole ? own_gangs : own_surplus) += candidate.own ? units : 0;
      if (candidate.cross) {
        const bool by_right =
            world_.fair_sharing == FairSharing::kOn ? entitled : candidate.hierarchical;
        unentitled += by_right ? 0 : 1;
      }
      int64_t& top = whole ? highest : highest_surplus;
      top = std::max<int64_t>(top, gang.priority);
      pods += std::popcount(gone);
      lost += std::popcount(gone) *
              std::max<int64_t>(0, absl::ToInt64Seconds(world_.cluster.now - gang.started));
      priorities.insert(priorities.end(), static_cast<size_t>(units), gang.priority);
      names.push_back(candidate.running);
      for (size_t after = 0; after < gang.members.size() && !whole; ++after) {
        const size_t p = candidate.first + gang.members.size() - 1 - after;
        if (((gone >> p) & 1) != 0) ranks.push_back(after);
      }
    }
    std::ranges::sort(priorities, std::greater<>());
    return {ViolationsOf(set), own_gangs, own_surplus, unentitled, highest, gangs,
            highest_surplus,   pods,      priorities,  lost,       names,   ranks};
  }

  PreemptionCase& world_;
  SnapshotPtr snapshot_;
  QuotaAsk ask_;
  QuotaNodeId queue_;
  std::map<QuotaCellId, Amount> demand_;
  std::vector<QuotaCellId> short_, contested_;
  bool room_is_short_ = true;
  Reach reach_ = Reach::kContested;
  std::vector<const VictimPod*> pods_;  // of the candidates, gang by gang
  std::vector<Candidate> candidates_;
};

NaivePreemption::NaivePreemption(PreemptionCase& world, const Options& options)
    : search_(std::make_unique<Search>(world, options)) {}
NaivePreemption::~NaivePreemption() = default;

std::map<uint32_t, NaiveCost> NaivePreemption::Good(Reach reach) { return search_->Good(reach); }

std::optional<uint32_t> NaivePreemption::SetOf(const PreemptionPlan& plan) const {
  return search_->SetOf(plan);
}

}  // namespace maniple
