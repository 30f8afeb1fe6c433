#include "scheduler/cycle/decide.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/status_macros.h"
#include "plugins/framework/gang_pod_counts.h"
#include "scheduler/cycle/bound_shape.h"
#include "scheduler/cycle/domain_search.h"
#include "scheduler/cycle/member_groups.h"
#include "scheduler/cycle/overlay.h"
#include "scheduler/cycle/quorum.h"
#include "scheduler/cycle/quota_choices.h"
#include "scheduler/cycle/rejection.h"
#include "scheduler/cycle/search.h"
#include "scheduler/cycle/topology.h"

namespace maniple {
namespace {

// The number of members that a message names.
constexpr size_t kMembersNamed = 8;
// The number of choices of flavors that are searched where there are many:
// so many in any case, and more in small clusters.
constexpr size_t kLeastChoices = 64;
constexpr size_t kMostLooks = 200'000;

using Outcome = SearchResult::Outcome;

// The distinct shapes of a request with the profile bound to them.
struct BoundKinds {
  std::vector<absl::StatusOr<BoundShape>> bound;
  std::vector<Kind> kinds;  // parallel; they point into `bound`, which moves but never grows
};

// One decision: the request's shapes bound to the profile, and the search over them.
class Cycle final {
 public:
  Cycle(const DecideInput& input, const Profile& profile)
      : snapshot_(input.snapshot),
        request_(input.request),
        cycle_{.snapshot = input.snapshot, .now = input.now, .seed = input.seed},
        profile_(profile),
        now_(input.snapshot, Overlay::View::kNow, input.request.work),
        levels_(input.cache == nullptr ? own_levels_ : input.cache->levels()) {
    NumberShapes();
    member_counts_.emplace(*snapshot_.tables, shapes_);
    today_ = Bind(Question::kNow);
    if (input.cache != nullptr) input.cache->Begin(snapshot_);
    for (const Kind& kind : today_.kinds) {
      if (kind.bound != nullptr) kind.bound->Remember(input.cache);
    }
    for (const HoldId hold : request_.own_holds) {
      if (const HeldRoom* room = snapshot_.FindHold(hold)) {
        now_.Free(room->node, room->shape, Occupant::kHold);
      }
    }
    for (const PromisedRoom& room : request_.outranked) now_.Free(room.node, room.shape);
    for (const FreedRoom& room : input.freed) now_.Free(room.node, room.shape, room.of);
    for (const FreedRoom& room : input.promised) now_.Promise(room.node, room.shape);
    if (input.quota != nullptr) quota_.emplace(*input.quota, request_, shapes_);
  }

  Decision Run() {
    if (const std::optional<Rejection> lacking = MembersLacking()) return *lacking;
    if (now_.spent()) return GivenUp();
    if (const absl::Status status = Resolve(); !status.ok()) return Refusal(status);
    if (const std::optional<Rejection> torn = TornApart()) return *torn;
    if (!Attempt()) return Reject();
    return PlanOf(result_);
  }

  PlanSearch Find() {
    if (MembersLacking().has_value()) return {};
    if (now_.spent()) return {.plan = std::nullopt, .gave_up = true};
    if (!Resolve().ok() || TornApart().has_value()) return {};
    if (!Attempt()) return {.plan = std::nullopt, .gave_up = gave_up_ || untried_choices_};
    return {.plan = PlanOf(result_)};
  }

 private:
  absl::Status Resolve() {
    ASSIGN_OR_RETURN(choice_, ResolveTopology(snapshot_, request_, levels_));
    groups_ = GroupsOf(snapshot_, request_, choice_);
    return absl::OkStatus();
  }

  // Tries one choice of flavors after the other; result_ is of the one that fits, or of the first
  // that failed on the nodes and not on the quota.
  bool Attempt() {
    if (!quota_.has_value()) {
      result_ = Search(today_, choice_, now_, SearchGoal::kNodes);
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
      return bound->LimitOn(now_, nullptr) >= problem_.LeastOf(kind);
    };
    return quota_->Narrow(problem_, most, QuotaBudget::Of::kNow, has_room);
  }

  bool AttemptAnyOf(const std::vector<std::vector<const QuotaOption*>>& choices) {
    std::optional<std::vector<const QuotaOption*>> kept;
    for (const std::vector<const QuotaOption*>& options : choices) {
      if (now_.spent()) {
        untried_choices_ = true;
        if (kept.has_value()) result_->search.outcome = Outcome::kGaveUp;
        break;
      }
      if (!Choose(options)) {
        short_of_quota_ = true;
        continue;
      }
      DomainResult result = Search(today_, choice_, now_, SearchGoal::kNodes);
      const bool found = result.search.outcome == Outcome::kFound;
      if (found || !kept.has_value()) {
        kept = options;
        result_ = std::move(result);
      } else if (result.search.outcome == Outcome::kGaveUp) {
        result_->search.outcome = Outcome::kGaveUp;
      }
      if (found) return true;
    }
    if (kept.has_value()) Choose(*kept);
    return false;
  }

  // Restricts every shape to its option. False: the quota does not cover the request.
  bool Choose(const std::vector<const QuotaOption*>& options) {
    for (size_t k = 0; k < options.size(); ++k) {
      if (today_.kinds[k].bound == nullptr) continue;
      today_.kinds[k].bound->RestrictTo(options[k]->nodes.has_value() ? &*options[k]->nodes
                                                                      : nullptr);
    }
    problem_.budget = quota_->BudgetOf(options, QuotaBudget::Of::kNow);
    return quota_->Covers(problem_, request_.scope);
  }

  // Gives every distinct shape of the wants a number, in order of first sight.
  void NumberShapes() {
    std::vector<uint32_t> kind_of_want;
    absl::flat_hash_map<ShapeId, uint32_t> known;
    for (const Want& want : request_.wants) {
      const auto [it, is_new] =
          known.try_emplace(want.shape, static_cast<uint32_t>(shapes_.size()));
      kind_of_want.push_back(it->second);
      if (!is_new) continue;
      shapes_.push_back(want.shape);
      scored_as_.push_back(ImagesMatter(want) ? want.scored_as : want.shape);
    }
    problem_ = ProblemOf(request_, std::move(kind_of_want), static_cast<uint32_t>(shapes_.size()));
  }

  // Where no node has an image, all pods of the shape may share what is remembered of it.
  [[nodiscard]] bool ImagesMatter(const Want& want) const {
    if (!want.scored_as.valid()) return false;
    return std::ranges::any_of(
        snapshot_.tables->ShapeOf(want.scored_as).images,
        [this](ImageId image) { return FactsOf(*snapshot_.images, image).nodes > 0; });
  }

  [[nodiscard]] BoundKinds Bind(Question question) const {
    CycleInput cycle = cycle_;
    cycle.question = question;
    cycle.members = shapes_;
    cycle.member_counts = &*member_counts_;
    BoundKinds kinds;
    kinds.bound.reserve(shapes_.size());
    for (size_t k = 0; k < shapes_.size(); ++k) {
      const PodShape& shape = snapshot_.tables->ShapeOf(scored_as_[k]);
      now_.Spend(BoundShape::StepsToBind(snapshot_, shape));
      // The caller of Bind asks next whether the work is spent.
      auto& bound = kinds.bound.emplace_back(
          now_.spent() ? absl::ResourceExhaustedError("the work of the search is spent")
                       : BoundShape::Bind(cycle, shape, profile_));
      kinds.kinds.push_back({.shape = shapes_[k], .bound = bound.ok() ? &*bound : nullptr});
    }
    return kinds;
  }

  // The caller assembles the gang first, so this speaks of a request that makes no sense.
  std::optional<Rejection> MembersLacking() const {
    std::vector<int64_t> counts(shapes_.size(), 0);
    for (const uint32_t kind : problem_.kinds) ++counts[kind];
    bool lacking = false;
    switch (request_.scope) {
      case DecideScope::kQuorum:
        lacking =
            shapes_.empty() ? problem_.total > 0 : ProvenShortage(problem_, counts).has_value();
        break;
      case DecideScope::kSurplus:
        lacking = request_.wants.empty();
        break;
    }
    if (!lacking) return std::nullopt;
    Rejection rejection{.code = RejectionCode::kInvalidSpec};
    rejection.nodes = snapshot_.node_count();
    rejection.detail = absl::StrCat("the quorum of ", request_.name, " needs ", problem_.total,
                                    " more members, and only ", request_.wants.size(), " exist");
    return rejection;
  }

  // A slice or sub-group that is torn apart, if the quorum needs members of such.
  [[nodiscard]] const MemberGroup* TornGroup() const {
    std::vector<int64_t> movable(shapes_.size(), 0);
    for (size_t i = 0; i < request_.wants.size(); ++i) {
      if (!groups_.Stuck(i)) ++movable[problem_.kinds[i]];
    }
    switch (request_.scope) {
      case DecideScope::kQuorum:
        if (!ProvenShortage(problem_, movable).has_value()) return nullptr;
        break;
      case DecideScope::kSurplus:
        if (std::ranges::any_of(movable, [](int64_t count) { return count > 0; })) return nullptr;
        break;
    }
    for (const std::vector<MemberGroup>* groups : {&groups_.sub_groups, &groups_.slices}) {
      const auto torn = std::ranges::find_if(*groups, &MemberGroup::torn);
      if (torn != groups->end()) return &*torn;
    }
    return nullptr;
  }

  // Members that stand already may have made a required domain impossible.
  std::optional<Rejection> TornApart() const {
    const DomainLevel* level = choice_.gang.required_level();
    std::vector<size_t> members;
    if (level != nullptr &&
        DomainOfPinned(snapshot_, *level, request_.pinned) == DomainLevel::kOutside) {
      members.resize(request_.pinned.size());
      std::iota(members.begin(), members.end(), 0);
    } else if (const MemberGroup* torn = TornGroup()) {
      level = torn->level;
      members = torn->pinned;
    } else {
      return std::nullopt;
    }
    Rejection rejection{.code = RejectionCode::kTopologyNoFit};
    rejection.wanted = problem_.total;
    rejection.nodes = snapshot_.node_count();
    std::vector<std::string> where;
    for (const size_t i : members) {
      const Pinned& member = request_.pinned[i];
      if (!snapshot_.HasNode(member.node)) continue;
      where.push_back(absl::StrCat(member.name, " on ", snapshot_.NodeName(member.node)));
    }
    std::sort(where.begin(), where.end());
    if (where.size() > kMembersNamed) {
      const size_t more = where.size() - kMembersNamed;
      where.resize(kMembersNamed);
      where.push_back(absl::StrCat("and ", more, " more"));
    }
    rejection.detail = absl::StrCat("members stand already, not in one ", level->name, ": ",
                                    absl::StrJoin(where, ", "));
    return rejection;
  }

  // Without a choice of domains there is nothing that members are bound to.
  DomainResult Search(BoundKinds& kinds, const DomainChoice& choice, Overlay& overlay,
                      SearchGoal goal) {
    const MemberGroups unbound = choice.binding() ? MemberGroups() : groups_.Unbound();
    const MemberGroups& groups = choice.binding() ? groups_ : unbound;
    DomainResult result = SearchDomains({.problem = problem_,
                                         .kinds = kinds.kinds,
                                         .scope = request_.scope,
                                         .choice = choice,
                                         .groups = groups,
                                         .pinned = request_.pinned},
                                        overlay, goal);
    gave_up_ = gave_up_ || result.search.outcome == Outcome::kGaveUp;
    return result;
  }

  Plan PlanOf(const std::optional<DomainResult>& found) const {
    const DomainResult& result = *found;
    Plan plan;
    plan.placements.reserve(result.search.places.size());
    for (const MemberPlace& place : result.search.places) {
      plan.placements.push_back({.pod = request_.wants[place.want].pod, .node = place.node});
    }
    plan.domains = result.paths;
    return plan;
  }

  // The work was spent before any room was counted.
  Rejection GivenUp() const {
    Rejection rejection{.code = RejectionCode::kSearchLimitReached};
    rejection.wanted = problem_.total;
    rejection.nodes = snapshot_.node_count();
    return rejection;
  }

  Rejection Reject() {
    if (!result_.has_value()) return RejectForQuota();
    const DomainResult& result = *result_;
    Overlay& now = now_;
    const Shortage& shortage = result.search.shortage;
    if (today_.kinds[shortage.kind].bound == nullptr) {
      Rejection rejection = Refusal(today_.bound[shortage.kind].status());
      rejection.shape = shapes_[shortage.kind];
      rejection.wanted = shortage.wanted;
      return rejection;
    }
    // "Never" takes precedence.
    if (std::optional<Rejection> never = ProofOfNever()) return *std::move(never);
    if (result.search.outcome == Outcome::kGaveUp) {
      return RejectionOf(RejectionCode::kSearchLimitReached, result, now);
    }
    if (choice_.binding()) {
      const DomainResult anywhere = Search(today_, DomainChoice{}, now, SearchGoal::kAnswerOnly);
      if (anywhere.search.outcome == Outcome::kFound) {
        return RejectionOf(RejectionCode::kTopologyNoFit, result, now);
      }
      if (anywhere.search.outcome == Outcome::kProven) {
        return RejectionOf(RejectionCode::kNoFit, anywhere, now);
      }
    }
    return RejectionOf(RejectionCode::kNoFit, result, now);
  }

  // "Exceeds the most" is of an earlier stage than "never", which takes precedence over "not now".
  Rejection RejectForQuota() {
    Rejection rejection = quota_->Reject(problem_, request_.scope);
    rejection.nodes = snapshot_.node_count();
    rejection.shape = shapes_.front();
    rejection.quota_in_the_way = true;
    rejection.wanted = problem_.total;
    if (rejection.code == RejectionCode::kExceedsMaxQuota) return rejection;
    result_.emplace();
    if (std::optional<Rejection> never = ProofOfNever()) return *std::move(never);
    if (untried_choices_) rejection.code = RejectionCode::kSearchLimitReached;
    return rejection;
  }

  // Asks the same question of the empty cluster, with every node up and uncordoned.
  std::optional<Rejection> ProofOfNever() {
    if (now_.spent()) return std::nullopt;
    Overlay emptied(snapshot_, Overlay::View::kEmptied, now_.work());
    for (const Pinned& pinned : request_.pinned) {
      if (snapshot_.HasNode(pinned.node)) emptied.Place(pinned.node, pinned.shape);
    }
    BoundKinds some_day = Bind(Question::kEver);
    if (now_.spent()) return std::nullopt;
    std::vector<std::optional<NodeSet>> allowed;
    if (quota_.has_value()) allowed = quota_->NodesOfAnyOption();
    const QuotaBudget budget = std::exchange(problem_.budget, QuotaBudget());
    const DomainResult ever = SearchWithin(allowed, some_day, emptied);
    std::optional<Rejection> proof;
    if (ever.search.outcome == Outcome::kProven) {
      proof = RejectionOf(RejectionCode::kNeverFits, ever, emptied);
    } else if (quota_.has_value() && quota_->complete() && quota_->choices().size() > 1) {
      proof = ProofOfNeverByChoice(some_day, emptied);
    }
    problem_.budget = budget;
    return proof;
  }

  // Some flavors may have the nodes and never the quota, and the others the quota and never the
  // nodes.
  std::optional<Rejection> ProofOfNeverByChoice(BoundKinds& some_day, Overlay& emptied) {
    std::optional<DomainResult> last;
    const std::vector<const QuotaOption*>* lacks_quota = nullptr;
    for (const std::vector<const QuotaOption*>& options : quota_->choices()) {
      problem_.budget = quota_->BudgetOf(options, QuotaBudget::Of::kEver);
      const bool covered = quota_->Covers(problem_, request_.scope);
      if (!covered) problem_.budget = QuotaBudget();
      std::vector<std::optional<NodeSet>> allowed;
      for (const QuotaOption* option : options) allowed.push_back(option->nodes);
      last = SearchWithin(allowed, some_day, emptied);
      if (last->search.outcome == Outcome::kProven) continue;
      if (covered) return std::nullopt;
      if (lacks_quota == nullptr) lacks_quota = &options;
    }
    if (lacks_quota != nullptr) return ExceedsMaxQuota(*lacks_quota);
    return RejectionOf(RejectionCode::kNeverFits, *last, emptied);
  }

  // `allowed`: by kind, the allowed nodes; none: all.
  DomainResult SearchWithin(const std::vector<std::optional<NodeSet>>& allowed, BoundKinds& kinds,
                            Overlay& overlay) {
    for (size_t k = 0; k < allowed.size(); ++k) {
      if (kinds.kinds[k].bound == nullptr) continue;
      kinds.kinds[k].bound->RestrictTo(allowed[k].has_value() ? &*allowed[k] : nullptr);
    }
    return Search(kinds, choice_.OnlyBinding(), overlay, SearchGoal::kAnswerOnly);
  }

  Rejection ExceedsMaxQuota(const std::vector<const QuotaOption*>& options) const {
    Rejection rejection{.code = RejectionCode::kExceedsMaxQuota, .shape = shapes_.front()};
    rejection.nodes_in_the_way = true;
    rejection.quota = quota_->ShortageOf(problem_, request_.scope, options);
    rejection.nodes = snapshot_.node_count();
    rejection.wanted = problem_.total;
    return rejection;
  }

  Rejection RejectionOf(RejectionCode code, const DomainResult& result, const Overlay& overlay) {
    const Shortage& shortage = result.search.shortage;
    Rejection rejection{.code = code, .shape = shapes_[shortage.kind]};
    rejection.wanted = shortage.wanted;
    rejection.placeable = shortage.placeable;
    // Some members were placed; how many could be is unknown.
    if (code == RejectionCode::kSearchLimitReached) rejection.wanted = problem_.total;
    rejection.nodes = snapshot_.node_count();
    rejection.quota_in_the_way = short_of_quota_;
    if (BoundShape* bound = today_.kinds[shortage.kind].bound) {
      rejection.reasons =
          ReasonsOf(*bound, overlay, result.best.has_value() ? &*result.best : nullptr);
    }
    if (code != RejectionCode::kNoFit || result.best.has_value()) {
      rejection.detail = DetailOf(result);
    }
    return rejection;
  }

  // The part of the domains in the rejection.
  [[nodiscard]] std::string DetailOf(const DomainResult& result) const {
    std::vector<std::string> parts;
    if (result.best.has_value()) {
      parts.push_back(absl::StrCat("the best of ", result.domains, " domains of level ",
                                   choice_.gang.required_level()->name, " is ", result.best_path));
    }
    const auto tell_slices = [&parts](const DomainWish& wish, absl::string_view whose) {
      if (wish.slice == nullptr) return;
      parts.push_back(absl::StrCat("slices of ", wish.slice_size, whose, " need one ",
                                   wish.slice->name, " each"));
    };
    tell_slices(choice_.gang, "");
    for (size_t i = 0; i < choice_.sub_groups.size(); ++i) {
      const DomainWish& wish = choice_.sub_groups[i];
      if (wish.required) {
        parts.push_back(absl::StrCat("sub-group ", i, " needs one ", wish.levels.front()->name));
      }
      tell_slices(wish, absl::StrCat(" of sub-group ", i));
    }
    return absl::StrJoin(parts, "; ");
  }

  // A plugin, or the topology, refused the request as such.
  Rejection Refusal(const absl::Status& status) const {
    Rejection rejection{.code = RejectionCode::kInvalidSpec};
    if (absl::IsUnimplemented(status)) rejection.code = RejectionCode::kUnsupported;
    if (absl::IsFailedPrecondition(status)) rejection.code = RejectionCode::kVolumesNotReady;
    rejection.nodes = snapshot_.node_count();
    if (rejection.code == RejectionCode::kUnsupported && rejection.nodes > 0) {
      rejection.reasons.push_back({.reason = {.id = kReasonUnsupported}, .nodes = rejection.nodes});
    }
    rejection.detail = std::string(status.message());
    return rejection;
  }

  const Snapshot& snapshot_;
  const GangRequest& request_;
  CycleInput cycle_;
  const Profile& profile_;
  Overlay now_;
  std::optional<QuotaChoices> quota_;
  std::optional<DomainResult> result_;
  bool gave_up_ = false;                          // some search gave up
  bool short_of_quota_ = false;                   // some choice of flavors failed for quota
  bool untried_choices_ = false;                  // of flavors: there are more than are tried
  std::vector<ShapeId> shapes_;                   // the distinct ones
  std::vector<ShapeId> scored_as_;                // parallel
  std::optional<MemberPodCounts> member_counts_;  // of the shapes
  BoundKinds today_;
  QuorumProblem problem_;
  LevelStore own_levels_;
  LevelStore& levels_;  // the cache's, or its own
  DomainChoice choice_;
  MemberGroups groups_;
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
