#include "scheduler/cycle/victims/preemption.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/quota_choices.h"
#include "scheduler/cycle/search/bound_request.h"
#include "scheduler/cycle/usable_options.h"
#include "scheduler/cycle/victims/freed_room.h"
#include "scheduler/cycle/victims/victim_policy.h"
#include "scheduler/cycle/victims/victim_search.h"
#include "scheduler/cycle/victims/victim_trial.h"
#include "scheduler/cycle/victims/victim_units.h"

namespace maniple {
namespace {

constexpr absl::string_view kNotFound = ", but no legal choice of them was found";

using Answer = std::variant<PreemptionPlan, NoPreemption>;
using Options = std::vector<const QuotaOption*>;

// The charge of the members that make the quorum, chosen as if there were room for all. They are
// those that the Queue could ever cover, if there are such.
Demand DemandOf(const QuotaAsk& ask, const RequestKinds& kinds, const Options& options) {
  const std::vector<int64_t> no_limits(kinds.shapes.size(), std::numeric_limits<int64_t>::max());
  QuorumProblem ever = kinds.problem;
  ever.budget = QuotaBudget(*ask.tree, ask.queue, options, QuotaBudget::Of::kEver);
  auto chosen = SelectWithinBudget(ever);
  if (!chosen.has_value()) chosen = SelectQuorum(kinds.problem, no_limits);
  Demand demand;
  if (!chosen.has_value()) return demand;
  std::vector<int64_t> counts(kinds.shapes.size(), 0);
  for (const size_t want : *chosen) ++counts[kinds.problem.kinds[want]];
  for (size_t k = 0; k < counts.size(); ++k) AddTo(demand, *options[k], counts[k]);
  std::sort(demand.begin(), demand.end());
  return demand;
}

// Victims for one choice of flavors.
class Attempt final {
 public:
  // No options: the gang has no Queue.
  Attempt(const PreemptionInput& input, const RequestKinds& kinds, const Options& options)
      : input_(input),
        kinds_(kinds),
        options_(options),
        room_(input.decide, input.profile, kinds, options) {}

  Answer Run() {
    if (!room_.status().ok()) return No(std::string(room_.status().message()));
    RestrictAsk();
    VictimRules rules(input_, ContestOf());
    if (std::string never = rules.WhyNever(); !never.empty()) return No(std::move(never));
    ListUnits(rules);
    if (units_.empty()) return No(absl::StrCat("no running gang may be evicted", Because()));

    VictimTrial trial(input_, rules, room_, units_, ask_.has_value() ? &*ask_ : nullptr);
    VictimSearch search(trial);
    switch (search.LookAhead()) {
      case VictimSearch::Outlook::kQuotaLacks:
        return No(absl::StrCat(MayBeEvicted(), ", and even without them quota would be lacking"));
      case VictimSearch::Outlook::kRoomLacks:
        return No(absl::StrCat(MayBeEvicted(), ", and even without them room would be lacking"));
      case VictimSearch::Outlook::kUnclear:
        return No(absl::StrCat(MayBeEvicted(), kNotFound));
      case VictimSearch::Outlook::kMayHelp:
        break;
    }
    for (const PreemptionMode& mode : rules.Modes(claims_)) {
      const auto choice = search.Run(mode);
      if (!choice.has_value()) continue;
      cost_ = choice->cost;
      return PlanOf(*choice);
    }
    constexpr absl::string_view kProven = ", but no legal choice of them makes room";
    return No(absl::StrCat(MayBeEvicted(), search.complete() ? kProven : kNotFound));
  }
  // REQUIRES: Run found a plan.
  [[nodiscard]] const VictimCost& cost() const { return cost_; }

 private:
  [[nodiscard]] NoPreemption No(std::string message) const {
    return {.candidates = candidates_, .message = std::move(message)};
  }
  [[nodiscard]] std::string MayBeEvicted() const {
    return absl::StrCat(candidates_, candidates_ == 1 ? " gang" : " gangs", " may be evicted");
  }
  // ": 2 have no lower priority, 1 is protected", of all running gangs.
  [[nodiscard]] std::string Because() const {
    std::vector<std::string> parts;
    const auto say = [&parts](int64_t gangs, absl::string_view one, absl::string_view several) {
      if (gangs > 0) parts.push_back(absl::StrCat(gangs, gangs == 1 ? one : several));
    };
    say(spared_.priority, " has no lower priority", " have no lower priority");
    say(spared_.not_borrowing, " is of a queue that does not borrow",
        " are of queues that do not borrow");
    say(spared_.has_queue, " has a queue, and the gang has none",
        " have queues, and the gang has none");
    say(spared_.policy, " is out of reach of the queue's preemption policies",
        " are out of reach of the queue's preemption policies");
    say(spared_.protected_still, " is protected", " are protected");
    say(spared_.budgets, " is kept by a PodDisruptionBudget", " are kept by PodDisruptionBudgets");
    return absl::StrCat(parts.empty() ? "" : ": ", absl::StrJoin(parts, ", "));
  }

  void RestrictAsk() {
    if (input_.decide.quota == nullptr) return;
    ask_.emplace();
    ask_->tree = input_.decide.quota->tree;
    ask_->queue = input_.decide.quota->queue;
    for (size_t k = 0; k < kinds_.shapes.size(); ++k) {
      ask_->options[kinds_.shapes[k]] = {*options_[k]};
    }
  }

  [[nodiscard]] QuotaContest ContestOf() const {
    if (!ask_.has_value()) return {};
    QuotaContest contest =
        ContestForRoom(*ask_->tree, ask_->queue, DemandOf(*ask_, kinds_, options_));
    if (!contest.lacking.empty() && !RoomIsShort()) contest.cells = contest.lacking;
    return contest;
  }

  // Would the gang lack room even with unlimited quota?
  [[nodiscard]] bool RoomIsShort() const {
    if (!room_.Enough()) return true;
    if (room_.exact()) return false;
    QuotaAsk unlimited = *ask_;
    for (auto& [shape, options] : unlimited.options) {
      for (QuotaOption& option : options) option.each.clear();
    }
    const DecideInput input{.snapshot = input_.decide.snapshot,
                            .request = input_.decide.request,
                            .now = input_.decide.now,
                            .seed = input_.decide.seed,
                            .quota = &unlimited,
                            .freed = input_.decide.freed};
    return !FindPlan(input, input_.profile).has_value();
  }

  void ListUnits(VictimRules& rules) {
    for (size_t i = 0; i < input_.running.size(); ++i) {
      const RunningGang& gang = input_.running[i];
      if (gang.gang == input_.decide.request.gang) continue;
      const std::optional<VictimClaim> claim = rules.ClaimOn(gang);
      if (!claim.has_value()) {
        CountSpared(rules.WhyNoClaimOn(gang));
        continue;
      }
      if (gang.protected_until > input_.decide.now) {
        ++spared_.protected_still;
        continue;
      }
      const size_t before = units_.size();
      AppendUnits(input_, i, *claim, units_);
      if (units_.size() == before) {
        ++spared_.budgets;
        continue;
      }
      claims_.push_back(*claim);
      ++candidates_;
    }
  }

  void CountSpared(NoClaim why) {
    switch (why) {
      case NoClaim::kPolicy:
        ++spared_.policy;
        break;
      case NoClaim::kPriority:
        ++spared_.priority;
        break;
      case NoClaim::kDoesNotBorrow:
        ++spared_.not_borrowing;
        break;
      case NoClaim::kHasQueue:
        ++spared_.has_queue;
        break;
    }
  }

  [[nodiscard]] VictimCause CauseOf(const VictimUnit& unit, const Justification& why) const {
    switch (unit.charge.claim) {
      case VictimClaim::kNoQueue:
        return VictimCause::kWithoutQueue;
      case VictimClaim::kOwnQueue:
        return VictimCause::kInQueue;
      case VictimClaim::kHierarchy:
      case VictimClaim::kPriority:
        return VictimCause::kInCohortReclamation;
      case VictimClaim::kPriorityWhileBorrowing:
        return VictimCause::kInCohortReclaimWhileBorrowing;
      case VictimClaim::kShare:
        break;
    }
    return why.entitled ? VictimCause::kInCohortReclamation : VictimCause::kInCohortFairSharing;
  }

  [[nodiscard]] PreemptionPlan PlanOf(const VictimChoice& choice) const {
    PreemptionPlan plan{.plan = choice.plan, .used_initial_share = choice.why.used_initial_share};
    for (const size_t index : choice.units) {
      const VictimUnit& unit = units_[index];
      const RunningGang& gang = input_.running[unit.running];
      if (plan.victims.empty() || plan.victims.back().running != unit.running) {
        plan.victims.push_back({.running = unit.running,
                                .pods = {},
                                .cause = CauseOf(unit, choice.why),
                                .past_budgets = MayPassBudgets(input_.ignore_pdb, unit.charge.claim,
                                                               EntitlementOf(choice.why))});
      }
      std::vector<PodId>& pods = plan.victims.back().pods;
      switch (unit.part) {
        case UnitPart::kSurplusMember:
          for (const size_t member : unit.members) pods.push_back(gang.members[member].pod);
          break;
        case UnitPart::kWholeGang:
          for (const VictimPod& pod : gang.members) pods.push_back(pod.pod);
          break;
      }
    }
    return plan;
  }

  const PreemptionInput& input_;
  const RequestKinds& kinds_;
  const Options& options_;
  FreedRoomCount room_;
  std::optional<QuotaAsk> ask_;
  std::vector<VictimUnit> units_;
  std::vector<VictimClaim> claims_;
  VictimCost cost_;
  int64_t candidates_ = 0;
  struct {
    int64_t priority = 0, not_borrowing = 0, has_queue = 0, policy = 0;
    int64_t protected_still = 0, budgets = 0;
  } spared_;
};

// More choices of flavors than these are not tried for victims.
constexpr size_t kMostFlavorChoices = 64;

// The choices to try: where there are many, without flavors that have no room for a shape even on
// empty nodes.
QuotaChoices::Narrowed ChoicesOf(const DecideInput& decide, const QuotaAsk& ask,
                                 const Profile& profile, const RequestKinds& kinds) {
  const QuotaChoices choices(ask, decide.request, kinds.shapes);
  if (choices.complete()) return {.choices = choices.choices()};
  const Overlay empty(decide.snapshot, Overlay::View::kEmptied, decide.request.work);
  const MemberPodCounts member_counts(*decide.snapshot.tables, kinds.shapes);
  const CycleInput cycle{.snapshot = decide.snapshot,
                         .now = decide.now,
                         .seed = decide.seed,
                         .question = Question::kEver,
                         .members = kinds.shapes,
                         .member_counts = &member_counts};
  const auto has_room = [&](uint32_t kind, const QuotaOption& option) {
    absl::StatusOr<BoundShape> bound =
        BoundShape::Bind(cycle, decide.snapshot.tables->ShapeOf(kinds.shapes[kind]), profile);
    if (!bound.ok()) return true;  // the attempt says why
    bound->RestrictTo(option.nodes.has_value() ? &*option.nodes : nullptr);
    return bound->LimitOn(empty, nullptr) >= kinds.problem.LeastOf(kind);
  };
  return choices.Narrow(kinds.problem, kMostFlavorChoices, QuotaBudget::Of::kEver, has_room);
}

bool DifferInPriceAlone(const Options& a, const Options& b) {
  return std::ranges::equal(a, b, [](const QuotaOption* one, const QuotaOption* other) {
    return IsCheaperPart(*one, *other) || IsCheaperPart(*other, *one);
  });
}

// The plan for the first flavors for which there is one. Where nodes of these differ in price, it
// is the one of the least cost: a dear node may have room, and need more quota to come free.
Answer PlanWithin(const PreemptionInput& input, const RequestKinds& kinds,
                  const QuotaChoices::Narrowed& choices) {
  struct Found {
    const Options* options;
    PreemptionPlan plan;
    VictimCost cost;
  };
  std::optional<Found> found;
  NoPreemption best{.message = "no flavor of the queue takes some of the gang's pods"};
  bool first = true;
  for (const Options& options : choices.choices) {
    if (found.has_value() && !DifferInPriceAlone(options, *found->options)) continue;
    Attempt attempt(input, kinds, options);
    Answer answer = attempt.Run();
    if (auto* plan = std::get_if<PreemptionPlan>(&answer)) {
      if (!found.has_value() || attempt.cost() < found->cost) {
        found = Found{.options = &options, .plan = std::move(*plan), .cost = attempt.cost()};
      }
      continue;
    }
    auto& no = std::get<NoPreemption>(answer);
    if (first || no.candidates > best.candidates) best = std::move(no);
    first = false;
  }
  if (found.has_value()) return std::move(found->plan);
  if (!choices.complete) absl::StrAppend(&best.message, kNotFound);
  return best;
}

Answer PlanFor(const PreemptionInput& input) {
  const GangRequest& request = input.decide.request;
  switch (request.scope) {
    case DecideScope::kSurplus:
      return NoPreemption{.message = "surplus members never preempt"};
    case DecideScope::kQuorum:
      break;
  }
  const RequestKinds kinds = KindsOf(request);
  if (kinds.shapes.empty()) return NoPreemption{.message = "no member is to be placed"};
  if (input.decide.quota == nullptr) return Attempt(input, kinds, {}).Run();

  const Snapshot& snapshot = input.decide.snapshot;
  const BoundRequest bound(
      {.snapshot = snapshot, .now = input.decide.now, .seed = input.decide.seed}, request,
      input.profile);
  const std::optional<UsableOptions> usable =
      UsableOptionsOf(*input.decide.quota, snapshot, request, bound);
  const QuotaAsk& ask = usable.has_value() ? usable->ask : *input.decide.quota;
  return PlanWithin(input, kinds, ChoicesOf(input.decide, ask, input.profile, kinds));
}

}  // namespace

Answer PlanPreemption(const PreemptionInput& input) {
  PreemptionInput within_budgets = input;
  within_budgets.ignore_pdb = IgnorePdb::kNever;
  Answer answer = PlanFor(within_budgets);
  if (input.ignore_pdb == IgnorePdb::kNever || std::holds_alternative<PreemptionPlan>(answer)) {
    return answer;
  }
  return PlanFor(input);
}

}  // namespace maniple
