#include "scheduler/cycle/decide.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/cycle/domains/gang_search.h"
#include "scheduler/cycle/never_proof.h"
#include "scheduler/cycle/quota_choices.h"
#include "scheduler/cycle/refusals.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/room/room_cache.h"
#include "scheduler/cycle/search/bound_request.h"
#include "scheduler/cycle/usable_options.h"

namespace maniple {
namespace {

// The number of choices of flavors that are searched where there are many:
// so many in any case, and more in small clusters.
constexpr size_t kLeastChoices = 64;
constexpr size_t kMostLooks = 200'000;

using Outcome = SearchResult::Outcome;

// One decision: the room as it is supposed to be, the choices of flavors, and the search over them.
class Cycle final {
 public:
  Cycle(const DecideInput& input, const Profile& profile)
      : snapshot_(input.snapshot),
        request_(input.request),
        now_(input.snapshot, Overlay::View::kNow, input.request.work),
        bound_({.snapshot = input.snapshot, .now = input.now, .seed = input.seed}, input.request,
               profile),
        today_(bound_.Bind(Question::kNow, now_)),
        search_(input.snapshot, input.request, bound_.problem()),
        refusals_(bound_, search_, today_),
        levels_(input.cache == nullptr ? own_levels_ : input.cache->levels()) {
    if (input.cache != nullptr) input.cache->Begin(snapshot_);
    for (const Kind& kind : today_.kinds) {
      if (kind.bound != nullptr) kind.bound->Remember(input.cache);
    }
    for (const HoldId hold : request_.own_holds) {
      if (const HeldRoom* room = snapshot_.FindHold(hold)) {
        now_.Free(room->node, room->shape, Occupant::kHold);
      }
    }
    for (const PromisedRoom& room : request_.outranked) {
      now_.Free(room.node, room.shape, Occupant::kHold);
    }
    for (const FreedRoom& room : input.freed) now_.Free(room.node, room.shape, room.of);
    for (const FreedRoom& room : input.promised) now_.Promise(room.node, room.shape);
    if (input.quota == nullptr) return;
    usable_ = UsableOptionsOf(*input.quota, snapshot_, request_, bound_);
    quota_.emplace(usable_.has_value() ? usable_->ask : *input.quota, request_, bound_.shapes());
  }

  Decision Run() {
    if (const std::optional<Rejection> lacking = refusals_.MembersLacking()) return *lacking;
    if (now_.spent()) return refusals_.GivenUp();
    if (const absl::Status status = search_.Resolve(levels_); !status.ok()) {
      return refusals_.Of(status);
    }
    if (const std::optional<Rejection> torn = refusals_.TornApart()) return *torn;
    if (!Attempt()) return Reject();
    return PlanOf(*result_);
  }

  PlanSearch Find() {
    if (refusals_.MembersLacking().has_value()) return {};
    if (now_.spent()) return {.plan = std::nullopt, .gave_up = true};
    if (!search_.Resolve(levels_).ok() || refusals_.TornApart().has_value()) return {};
    if (!Attempt()) {
      return {.plan = std::nullopt, .gave_up = search_.gave_up() || untried_choices_};
    }
    return {.plan = PlanOf(*result_)};
  }

 private:
  // Tries one choice of flavors after the other; result_ is of the one that fits, or of the first
  // that failed on the nodes and not on the quota.
  bool Attempt() {
    if (!quota_.has_value()) {
      result_ = search_.Search(today_, search_.choice(), now_, SearchGoal::kNodes);
      return result_->search.outcome == Outcome::kFound;
    }
    if (quota_->complete()) return AttemptAnyOf(quota_->choices());
    const QuotaChoices::Narrowed narrowed = NarrowedChoices();
    if (AttemptAnyOf(narrowed.choices)) return true;
    short_of_quota_ = true;
    untried_choices_ = !narrowed.complete;
    // Among choices that were struck out, one that quota allows tells more of the nodes.
    for (size_t i = 0; i < quota_->choices().size() && !result_.has_value(); ++i) {
      if (AttemptAnyOf({quota_->choices()[i]})) return true;
    }
    if (result_.has_value() && untried_choices_) result_->search.outcome = Outcome::kGaveUp;
    return false;
  }

  // Leaves out flavors that lack room for the members of a shape that every quorum needs.
  QuotaChoices::Narrowed NarrowedChoices() {
    const auto nodes = static_cast<size_t>(std::max<int64_t>(1, snapshot_.node_count()));
    const size_t most = std::max(kLeastChoices, kMostLooks / nodes);
    const auto has_room = [this](uint32_t kind, const QuotaOption& option) {
      BoundShape* bound = today_.kinds[kind].bound;
      if (bound == nullptr) return true;
      bound->RestrictTo(option.nodes.has_value() ? &*option.nodes : nullptr);
      return bound->LimitOn(now_, nullptr) >= search_.problem().LeastOf(kind);
    };
    return quota_->Narrow(search_.problem(), most, QuotaBudget::Of::kNow, has_room);
  }

  bool AttemptAnyOf(const std::vector<std::vector<const QuotaOption*>>& choices) {
    kept_.reset();
    for (const std::vector<const QuotaOption*>& options : choices) {
      if (now_.spent()) {
        untried_choices_ = true;
        if (kept_.has_value()) result_->search.outcome = Outcome::kGaveUp;
        break;
      }
      if (!Choose(options)) {
        short_of_quota_ = true;
        NoteRefused(options, RefusedFlavors::Lacks::kQuota);
        continue;
      }
      DomainResult result = search_.Search(today_, search_.choice(), now_, SearchGoal::kNodes);
      const bool found = result.search.outcome == Outcome::kFound;
      if (found || !kept_.has_value()) {
        kept_ = options;
        result_ = std::move(result);
      } else if (result.search.outcome == Outcome::kGaveUp) {
        result_->search.outcome = Outcome::kGaveUp;
      }
      if (found) return true;
      NoteRefused(options, RefusedFlavors::Lacks::kRoom);
    }
    if (kept_.has_value()) Choose(*kept_);
    return false;
  }

  void NoteRefused(const std::vector<const QuotaOption*>& options, RefusedFlavors::Lacks lacks) {
    if (refused_.size() < kMostRefusedTold) refused_.emplace_back(options, lacks);
  }

  // Restricts every shape to its option. False: the quota does not cover the request.
  bool Choose(const std::vector<const QuotaOption*>& options) {
    Restrict(options);
    search_.SetBudget(quota_->BudgetOf(options, QuotaBudget::Of::kNow));
    return quota_->Covers(search_.problem(), request_.scope);
  }

  void Restrict(const std::vector<const QuotaOption*>& options) {
    for (size_t k = 0; k < options.size(); ++k) {
      if (today_.kinds[k].bound == nullptr) continue;
      today_.kinds[k].bound->RestrictTo(options[k]->nodes.has_value() ? &*options[k]->nodes
                                                                      : nullptr);
    }
  }

  [[nodiscard]] Plan PlanOf(const DomainResult& result) const {
    Plan plan;
    plan.placements.reserve(result.search.places.size());
    for (const MemberPlace& place : result.search.places) {
      plan.placements.push_back({.pod = request_.wants[place.want].pod, .node = place.node});
    }
    plan.domains = result.paths;
    for (const auto& [options, lacks] : refused_) {
      RefusedFlavors refused{.flavors = {}, .lacks = lacks};
      for (const QuotaOption* option : options) {
        if (option->flavor.empty() || std::ranges::count(refused.flavors, option->flavor) > 0)
          continue;
        refused.flavors.push_back(option->flavor);
      }
      if (!refused.flavors.empty()) plan.refused.push_back(std::move(refused));
    }
    return plan;
  }

  Rejection Reject() {
    if (!result_.has_value()) return RejectForQuota();
    const DomainResult& result = *result_;
    const Shortage& shortage = result.search.shortage;
    if (today_.kinds[shortage.kind].bound == nullptr) {
      return refusals_.OfShape(shortage);
    }
    // "Never" takes precedence.
    if (std::optional<Rejection> never = ProofOfNever()) return *std::move(never);
    if (result.search.outcome == Outcome::kGaveUp) {
      return refusals_.Of(RejectionCode::kSearchLimitReached, result, now_, InTheWay());
    }
    if (std::optional<Rejection> quota = ShortOfQuotaAlone()) return *std::move(quota);
    if (search_.choice().binding()) {
      const DomainResult anywhere = Anywhere();
      TellOf(NodesWithoutRoom());
      if (anywhere.search.outcome == Outcome::kFound) {
        return refusals_.Of(RejectionCode::kTopologyNoFit, result, now_, InTheWay());
      }
      if (anywhere.search.outcome == Outcome::kProven) {
        return refusals_.Of(RejectionCode::kNoFit, anywhere, now_, InTheWay());
      }
    }
    TellOf(NodesWithoutRoom());
    return refusals_.Of(RejectionCode::kNoFit, result, now_, InTheWay());
  }

  // Without domains, in the first flavors that would do then; else in those that result_ is of.
  DomainResult Anywhere() {
    const auto search = [this] {
      return search_.Search(today_, DomainChoice{}, now_, SearchGoal::kAnswerOnly);
    };
    DomainResult first = search();
    if (first.search.outcome == Outcome::kFound || !kept_.has_value()) return first;
    for (const auto& [options, lacks] : refused_) {
      if (lacks != RefusedFlavors::Lacks::kRoom || options == *kept_) continue;
      Choose(options);
      DomainResult other = search();
      if (other.search.outcome == Outcome::kFound) return other;
    }
    return first;
  }

  // By kind: the nodes of all flavors that were tried and had no room.
  [[nodiscard]] std::vector<std::optional<NodeSet>> NodesWithoutRoom() const {
    std::vector<std::vector<const QuotaOption*>> tried;
    for (const auto& [options, lacks] : refused_) {
      if (lacks == RefusedFlavors::Lacks::kRoom) tried.push_back(options);
    }
    if (kept_.has_value()) tried.push_back(*kept_);
    std::vector<std::optional<NodeSet>> nodes;
    for (size_t k = 0; !tried.empty() && k < today_.kinds.size(); ++k) {
      std::vector<const QuotaOption*> options;
      for (const std::vector<const QuotaOption*>& choice : tried) options.push_back(choice[k]);
      nodes.push_back(NodesOf(options));
    }
    return nodes;
  }

  // Reasons tell of these nodes what keeps a pod out, and of others that the quota does. `nodes` is
  // by kind.
  void TellOf(std::vector<std::optional<NodeSet>> nodes) {
    told_ = std::move(nodes);
    for (size_t k = 0; k < told_.size(); ++k) {
      if (BoundShape* bound = today_.kinds[k].bound; bound != nullptr) {
        bound->RestrictTo(told_[k].has_value() ? &*told_[k] : nullptr);
      }
    }
  }

  // In a flavor that has no room the gang lacks nodes; in one that has, it lacks only quota. New
  // nodes would not help it then.
  std::optional<Rejection> ShortOfQuotaAlone() {
    std::optional<Rejection> rejection;
    for (const auto& [options, lacks] : refused_) {
      if (lacks != RefusedFlavors::Lacks::kQuota) continue;
      QuotaShortage shortage = quota_->ShortageOf(search_.problem(), request_.scope, options);
      if (shortage.needs > shortage.potential) continue;
      Restrict(options);
      search_.SetBudget(QuotaBudget());
      const DomainResult roomy =
          search_.Search(today_, search_.choice(), now_, SearchGoal::kAnswerOnly);
      if (roomy.search.outcome != Outcome::kFound) continue;
      rejection = {.code = RejectionCode::kQuotaExceeded};
      rejection->quota = std::move(shortage);
      rejection->nodes = snapshot_.node_count();
      rejection->shape = bound_.shapes().front();
      rejection->quota_in_the_way = rejection->nodes_in_the_way = true;
      rejection->wanted = search_.problem().total;
      break;
    }
    if (kept_.has_value()) Choose(*kept_);
    return rejection;
  }

  // "Exceeds the most" is of an earlier stage than "never", which takes precedence over "not now".
  Rejection RejectForQuota() {
    Rejection rejection = quota_->Reject(search_.problem(), request_.scope);
    rejection.nodes = snapshot_.node_count();
    rejection.shape = bound_.shapes().front();
    rejection.quota_in_the_way = true;
    rejection.nodes_in_the_way = usable_.has_value() && usable_->cheaper_left_out;
    rejection.wanted = search_.problem().total;
    if (rejection.code == RejectionCode::kExceedsMaxQuota) return rejection;
    result_.emplace();
    if (std::optional<Rejection> never = ProofOfNever()) {
      never->quota = std::move(rejection.quota);
      return *std::move(never);
    }
    if (untried_choices_) rejection.code = RejectionCode::kSearchLimitReached;
    return rejection;
  }

  std::optional<Rejection> ProofOfNever() {
    const QuotaChoices* quota = quota_.has_value() ? &*quota_ : nullptr;
    if (quota != nullptr) TellOf(quota->NodesOfAnyOption());
    std::optional<Rejection> never =
        NeverProof(bound_, search_, quota, refusals_, InTheWay()).Find(now_);
    if (kept_.has_value()) Choose(*kept_);
    return never;
  }

  [[nodiscard]] Refusals::Quota InTheWay() const {
    return short_of_quota_ ? Refusals::Quota::kInTheWay : Refusals::Quota::kNotInTheWay;
  }

  const Snapshot& snapshot_;
  const GangRequest& request_;
  Overlay now_;
  const BoundRequest bound_;
  BoundKinds today_;
  GangSearch search_;
  const Refusals refusals_;
  LevelStore own_levels_;
  LevelStore& levels_;                   // the cache's, or its own
  std::optional<UsableOptions> usable_;  // none: all of the input's
  std::optional<QuotaChoices> quota_;
  std::optional<DomainResult> result_;
  std::vector<std::optional<NodeSet>> told_;             // by kind; see TellOf
  std::optional<std::vector<const QuotaOption*>> kept_;  // the choice that result_ is of
  // Choices of flavors that failed before the one that fits, with what they lacked.
  std::vector<std::pair<std::vector<const QuotaOption*>, RefusedFlavors::Lacks>> refused_;
  bool short_of_quota_ = false;   // some choice of flavors failed for quota
  bool untried_choices_ = false;  // of flavors: there are more than are tried
};

}  // namespace

Decision Decide(const DecideInput& input, const Profile& profile) {
  return Cycle(input, profile).Run();
}

PlanSearch SearchPlan(const DecideInput& input, const Profile& profile) {
  return Cycle(input, profile).Find();
}

std::optional<Plan> FindPlan(const DecideInput& input, const Profile& profile) {
  return SearchPlan(input, profile).plan;
}

}  // namespace maniple
