#include "scheduler/cycle/decide.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "scheduler/cycle/bound_shape.h"
#include "scheduler/cycle/overlay.h"
#include "scheduler/cycle/quorum.h"
#include "scheduler/cycle/rejection.h"
#include "scheduler/cycle/search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// One decision: the request's shapes bound to the profile, and the search over them.
class Cycle final {
 public:
  Cycle(const DecideInput& input, const Profile& profile)
      : snapshot_(input.snapshot), request_(input.request) {
    BindShapes({.snapshot = input.snapshot, .now = input.now, .seed = input.seed}, profile);
  }

  Decision Run() {
    if (const std::optional<Rejection> lacking = MembersLacking()) return *lacking;
    Overlay now(snapshot_, Overlay::View::kNow);
    for (const HoldId hold : request_.own_holds) {
      if (const HeldRoom* room = snapshot_.FindHold(hold)) now.Free(room->node, room->shape);
    }
    const SearchResult result = Search(now, nullptr);
    if (result.outcome == Outcome::kFound) return PlanOf(result);
    return Reject(result, now);
  }

 private:
  // Gives every distinct shape of the wants a number, in order of first sight.
  void BindShapes(const CycleInput& cycle, const Profile& profile) {
    std::vector<uint32_t> kind_of_want;
    absl::flat_hash_map<ShapeId, uint32_t> known;
    for (const Want& want : request_.wants) {
      const auto [it, is_new] = known.try_emplace(want.shape, static_cast<uint32_t>(kinds_.size()));
      kind_of_want.push_back(it->second);
      if (!is_new) continue;
      kinds_.push_back({.shape = want.shape});
      const PodShape& shape = snapshot_.tables->ShapeOf(want.shape);
      bound_.push_back(BoundShape::Bind(cycle, shape, profile));
    }
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (bound_[k].ok()) kinds_[k].bound = &*bound_[k];
    }
    problem_ = ProblemOf(request_, std::move(kind_of_want), static_cast<uint32_t>(kinds_.size()));
  }

  // The caller assembles the gang first, so this speaks of a request that makes no sense.
  std::optional<Rejection> MembersLacking() const {
    std::vector<int64_t> counts(kinds_.size(), 0);
    for (const uint32_t kind : problem_.kinds) ++counts[kind];
    bool lacking = false;
    switch (request_.scope) {
      case DecideScope::kQuorum:
        lacking =
            kinds_.empty() ? problem_.total > 0 : ProvenShortage(problem_, counts).has_value();
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

  SearchResult Search(Overlay& overlay, const NodeSet* within) {
    switch (request_.scope) {
      case DecideScope::kQuorum:
        return PlaceQuorum(problem_, kinds_, overlay, within);
      case DecideScope::kSurplus:
        return PlaceSurplus(problem_, kinds_, overlay, within);
    }
    return {};
  }

  SearchResult Could(Overlay& overlay, const NodeSet* within) {
    switch (request_.scope) {
      case DecideScope::kQuorum:
        return CouldPlaceQuorum(problem_, kinds_, overlay, within);
      case DecideScope::kSurplus:
        return PlaceSurplus(problem_, kinds_, overlay, within);
    }
    return {};
  }

  Plan PlanOf(const SearchResult& result) const {
    Plan plan;
    plan.placements.reserve(result.places.size());
    for (const MemberPlace& place : result.places) {
      plan.placements.push_back({.pod = request_.wants[place.want].pod, .node = place.node});
    }
    return plan;
  }

  Rejection Reject(const SearchResult& result, Overlay& now) {
    if (kinds_[result.shortage.kind].bound == nullptr) return Refusal(result.shortage);
    // "Never" takes precedence: it asks the same question of the empty cluster.
    Overlay emptied(snapshot_, Overlay::View::kEmptied);
    for (const Pinned& pinned : request_.pinned) {
      if (snapshot_.HasNode(pinned.node)) emptied.Place(pinned.node, pinned.shape);
    }
    const SearchResult ever = Could(emptied, nullptr);
    if (ever.outcome == Outcome::kProven) {
      return RejectionOf(RejectionCode::kNeverFits, ever.shortage, emptied);
    }
    const RejectionCode code = result.outcome == Outcome::kProven
                                   ? RejectionCode::kNoFit
                                   : RejectionCode::kSearchLimitReached;
    return RejectionOf(code, result.shortage, now);
  }

  Rejection RejectionOf(RejectionCode code, const Shortage& shortage, const Overlay& overlay) {
    Rejection rejection{.code = code, .shape = kinds_[shortage.kind].shape};
    rejection.wanted = shortage.wanted;
    rejection.placeable = shortage.placeable;
    rejection.nodes = snapshot_.node_count();
    if (BoundShape* bound = kinds_[shortage.kind].bound) {
      rejection.reasons = ReasonsOf(*bound, overlay, nullptr);
    }
    return rejection;
  }

  // A plugin refused the shape as such.
  Rejection Refusal(const Shortage& shortage) const {
    const absl::Status& status = bound_[shortage.kind].status();
    Rejection rejection{.code = absl::IsUnimplemented(status) ? RejectionCode::kUnsupported
                                                              : RejectionCode::kInvalidSpec};
    rejection.shape = kinds_[shortage.kind].shape;
    rejection.wanted = shortage.wanted;
    rejection.nodes = snapshot_.node_count();
    if (rejection.nodes > 0) {
      rejection.reasons.push_back({.reason = {.id = kReasonUnsupported}, .nodes = rejection.nodes});
    }
    rejection.detail = std::string(status.message());
    return rejection;
  }

  const Snapshot& snapshot_;
  const GangRequest& request_;
  std::vector<Kind> kinds_;
  std::vector<absl::StatusOr<BoundShape>> bound_;  // parallel to kinds_
  QuorumProblem problem_;
};

}  // namespace

Decision Decide(const DecideInput& input, const Profile& profile) {
  return Cycle(input, profile).Run();
}

}  // namespace maniple
