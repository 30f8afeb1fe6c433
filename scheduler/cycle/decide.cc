#include "scheduler/cycle/decide.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/bound_shape.h"
#include "scheduler/cycle/domain_search.h"
#include "scheduler/cycle/overlay.h"
#include "scheduler/cycle/quorum.h"
#include "scheduler/cycle/rejection.h"
#include "scheduler/cycle/search.h"
#include "scheduler/cycle/topology.h"

namespace maniple {
namespace {

// In a message.
constexpr size_t kMembersNamed = 8;

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
        profile_(profile) {
    NumberShapes();
    today_ = Bind(Question::kNow);
  }

  Decision Run() {
    if (const std::optional<Rejection> lacking = MembersLacking()) return *lacking;
    absl::StatusOr<DomainChoice> choice = ResolveTopology(snapshot_, request_);
    if (!choice.ok()) return Refusal(choice.status());
    choice_ = *std::move(choice);
    if (const std::optional<Rejection> torn = TornApart()) return *torn;

    Overlay now(snapshot_, Overlay::View::kNow);
    for (const HoldId hold : request_.own_holds) {
      if (const HeldRoom* room = snapshot_.FindHold(hold)) now.Free(room->node, room->shape);
    }
    const DomainResult result = Search(today_, choice_, now, SearchGoal::kNodes);
    if (result.search.outcome == Outcome::kFound) return PlanOf(result);
    return Reject(result, now);
  }

 private:
  // Gives every distinct shape of the wants a number, in order of first sight.
  void NumberShapes() {
    std::vector<uint32_t> kind_of_want;
    absl::flat_hash_map<ShapeId, uint32_t> known;
    for (const Want& want : request_.wants) {
      const auto [it, is_new] =
          known.try_emplace(want.shape, static_cast<uint32_t>(shapes_.size()));
      kind_of_want.push_back(it->second);
      if (is_new) shapes_.push_back(want.shape);
    }
    problem_ = ProblemOf(request_, std::move(kind_of_want), static_cast<uint32_t>(shapes_.size()));
  }

  [[nodiscard]] BoundKinds Bind(Question question) const {
    CycleInput cycle = cycle_;
    cycle.question = question;
    BoundKinds kinds;
    kinds.bound.reserve(shapes_.size());
    for (const ShapeId shape : shapes_) {
      auto& bound = kinds.bound.emplace_back(
          BoundShape::Bind(cycle, snapshot_.tables->ShapeOf(shape), profile_));
      kinds.kinds.push_back({.shape = shape, .bound = bound.ok() ? &*bound : nullptr});
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

  // Members that stand already may have made a required domain impossible.
  std::optional<Rejection> TornApart() const {
    if (!choice_.required) return std::nullopt;
    const DomainLevel& level = choice_.levels.back();
    if (DomainOfPinned(snapshot_, level, request_.pinned) != DomainLevel::kOutside) {
      return std::nullopt;
    }
    Rejection rejection{.code = RejectionCode::kTopologyNoFit};
    rejection.wanted = problem_.total;
    rejection.nodes = snapshot_.node_count();
    std::vector<std::string> where;
    for (const Pinned& member : request_.pinned) {
      if (!snapshot_.HasNode(member.node)) continue;
      where.push_back(absl::StrCat(member.name, " on ", snapshot_.NodeName(member.node)));
    }
    std::sort(where.begin(), where.end());
    if (where.size() > kMembersNamed) {
      const size_t more = where.size() - kMembersNamed;
      where.resize(kMembersNamed);
      where.push_back(absl::StrCat("and ", more, " more"));
    }
    rejection.detail = absl::StrCat("members stand already, not in one ", level.name, ": ",
                                    absl::StrJoin(where, ", "));
    return rejection;
  }

  DomainResult Search(BoundKinds& kinds, const DomainChoice& choice, Overlay& overlay,
                      SearchGoal goal) {
    return SearchDomains({.problem = problem_,
                          .kinds = kinds.kinds,
                          .scope = request_.scope,
                          .choice = choice,
                          .pinned = request_.pinned},
                         overlay, goal);
  }

  Plan PlanOf(const DomainResult& result) const {
    Plan plan;
    plan.placements.reserve(result.search.places.size());
    for (const MemberPlace& place : result.search.places) {
      plan.placements.push_back({.pod = request_.wants[place.want].pod, .node = place.node});
    }
    if (!result.path.empty()) plan.domains.push_back(result.path);
    return plan;
  }

  Rejection Reject(const DomainResult& result, Overlay& now) {
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
    if (choice_.required) {
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

  // Asks the same question of the empty cluster, every node of it up and uncordoned.
  std::optional<Rejection> ProofOfNever() {
    Overlay emptied(snapshot_, Overlay::View::kEmptied);
    for (const Pinned& pinned : request_.pinned) {
      if (snapshot_.HasNode(pinned.node)) emptied.Place(pinned.node, pinned.shape);
    }
    BoundKinds some_day = Bind(Question::kEver);
    const DomainResult ever = Search(some_day, choice_.required ? choice_ : DomainChoice{}, emptied,
                                     SearchGoal::kAnswerOnly);
    if (ever.search.outcome != Outcome::kProven) return std::nullopt;
    return RejectionOf(RejectionCode::kNeverFits, ever, emptied);
  }

  Rejection RejectionOf(RejectionCode code, const DomainResult& result, const Overlay& overlay) {
    const Shortage& shortage = result.search.shortage;
    Rejection rejection{.code = code, .shape = shapes_[shortage.kind]};
    rejection.wanted = shortage.wanted;
    rejection.placeable = shortage.placeable;
    rejection.nodes = snapshot_.node_count();
    if (BoundShape* bound = today_.kinds[shortage.kind].bound) {
      rejection.reasons =
          ReasonsOf(*bound, overlay, result.best.has_value() ? &*result.best : nullptr);
    }
    if (result.best.has_value()) {
      const std::string& level = choice_.levels.back().name;
      rejection.detail = absl::StrCat("the best of ", result.domains, " domains of level ", level,
                                      " is ", result.best_path);
    }
    return rejection;
  }

  // A plugin, or the topology, refused the request as such.
  Rejection Refusal(const absl::Status& status) const {
    Rejection rejection{.code = absl::IsUnimplemented(status) ? RejectionCode::kUnsupported
                                                              : RejectionCode::kInvalidSpec};
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
  std::vector<ShapeId> shapes_;  // the distinct ones
  BoundKinds today_;
  QuorumProblem problem_;
  DomainChoice choice_;
};

}  // namespace

Decision Decide(const DecideInput& input, const Profile& profile) {
  return Cycle(input, profile).Run();
}

}  // namespace maniple
