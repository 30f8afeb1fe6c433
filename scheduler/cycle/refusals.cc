#include "scheduler/cycle/refusals.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/rejection.h"

namespace maniple {
namespace {

// The number of members that a message names.
constexpr size_t kMembersNamed = 8;

std::string NamesOf(std::vector<std::string> members) {
  std::sort(members.begin(), members.end());
  if (members.size() > kMembersNamed) {
    const size_t more = members.size() - kMembersNamed;
    members.resize(kMembersNamed);
    members.push_back(absl::StrCat("and ", more, " more"));
  }
  return absl::StrJoin(members, ", ");
}

}  // namespace

std::optional<Rejection> Refusals::MembersLacking() const {
  const GangRequest& request = search_.request();
  const QuorumProblem& problem = search_.problem();
  std::vector<int64_t> counts(request_.shapes().size(), 0);
  for (const uint32_t kind : problem.kinds) ++counts[kind];
  bool lacking = false;
  switch (request.scope) {
    case DecideScope::kQuorum:
      lacking = counts.empty() ? problem.total > 0 : ProvenShortage(problem, counts).has_value();
      break;
    case DecideScope::kSurplus:
      lacking = request.wants.empty();
      break;
  }
  if (!lacking) return std::nullopt;
  Rejection rejection{.code = RejectionCode::kInvalidSpec};
  rejection.nodes = search_.snapshot().node_count();
  rejection.detail = absl::StrCat("the quorum of ", request.name, " needs ", problem.total,
                                  " more members, and only ", request.wants.size(), " exist");
  return rejection;
}

// A slice or sub-group that is torn apart, if the quorum needs members of such.
const MemberGroup* Refusals::TornGroup() const {
  const GangRequest& request = search_.request();
  const MemberGroups& all = search_.groups();
  std::vector<int64_t> movable(request_.shapes().size(), 0);
  for (size_t i = 0; i < request.wants.size(); ++i) {
    if (!all.Stuck(i)) ++movable[search_.problem().kinds[i]];
  }
  switch (request.scope) {
    case DecideScope::kQuorum:
      if (!ProvenShortage(search_.problem(), movable).has_value()) return nullptr;
      break;
    case DecideScope::kSurplus:
      if (std::ranges::any_of(movable, [](int64_t count) { return count > 0; })) return nullptr;
      break;
  }
  for (const std::vector<MemberGroup>* groups : {&all.sub_groups, &all.slices}) {
    const auto torn = std::ranges::find_if(*groups, &MemberGroup::torn);
    if (torn != groups->end()) return &*torn;
  }
  return nullptr;
}

std::optional<Rejection> Refusals::TornApart() const {
  const Snapshot& snapshot = search_.snapshot();
  const std::vector<Pinned>& pinned = search_.request().pinned;
  const DomainLevel* level = search_.choice().gang.required_level();
  std::vector<size_t> members;
  if (level != nullptr && DomainOfPinned(snapshot, *level, pinned) == DomainLevel::kOutside) {
    members.resize(pinned.size());
    std::iota(members.begin(), members.end(), 0);
  } else if (const MemberGroup* torn = TornGroup()) {
    level = torn->level;
    members = torn->pinned;
  } else {
    return std::nullopt;
  }
  Rejection rejection{.code = RejectionCode::kTopologyNoFit};
  rejection.wanted = search_.problem().total;
  // Surplus members are placed one by one.
  if (search_.request().scope == DecideScope::kSurplus) rejection.wanted = 1;
  rejection.nodes = snapshot.node_count();
  std::vector<std::string> where;
  for (const size_t i : members) {
    if (!snapshot.HasNode(pinned[i].node)) continue;
    where.push_back(absl::StrCat(pinned[i].name, " on ", snapshot.NodeName(pinned[i].node)));
  }
  rejection.detail = absl::StrCat("members that stand already are not in one ", level->name, ": ",
                                  NamesOf(std::move(where)));
  return rejection;
}

Rejection Refusals::GivenUp() const {
  Rejection rejection{.code = RejectionCode::kSearchLimitReached};
  rejection.wanted = search_.problem().total;
  rejection.nodes = search_.snapshot().node_count();
  return rejection;
}

Rejection Refusals::Of(const absl::Status& status) const {
  Rejection rejection{.code = RejectionCode::kInvalidSpec};
  if (absl::IsUnimplemented(status)) rejection.code = RejectionCode::kUnsupported;
  if (absl::IsFailedPrecondition(status)) rejection.code = RejectionCode::kVolumesNotReady;
  rejection.nodes = search_.snapshot().node_count();
  if (rejection.code == RejectionCode::kUnsupported && rejection.nodes > 0) {
    rejection.reasons.push_back({.reason = {.id = kReasonUnsupported}, .nodes = rejection.nodes});
  }
  rejection.detail = std::string(status.message());
  return rejection;
}

Rejection Refusals::OfShape(const Shortage& shortage) const {
  Rejection rejection = Of(today_.bound[shortage.kind].status());
  rejection.shape = request_.shapes()[shortage.kind];
  rejection.wanted = shortage.wanted;
  return rejection;
}

Rejection Refusals::Of(RejectionCode code, const DomainResult& result, const Overlay& overlay,
                       Quota quota) const {
  const Shortage& shortage = result.search.shortage;
  Rejection rejection{.code = code, .shape = request_.shapes()[shortage.kind]};
  rejection.wanted = shortage.wanted;
  rejection.placeable = shortage.placeable;
  // Some members were placed; how many could be is unknown.
  if (code == RejectionCode::kSearchLimitReached) rejection.wanted = search_.problem().total;
  rejection.of_some = search_.request().scope == DecideScope::kQuorum &&
                      search_.problem().kind_count > 1 &&
                      rejection.wanted < search_.problem().total;
  rejection.nodes = search_.snapshot().node_count();
  rejection.quota_in_the_way = quota == Quota::kInTheWay;
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
std::string Refusals::DetailOf(const DomainResult& result) const {
  const DomainChoice& choice = search_.choice();
  std::vector<std::string> parts;
  if (result.best.has_value()) {
    parts.push_back(absl::StrCat("the best of ", result.domains, " domains of level ",
                                 choice.gang.required_level()->name, " is ", result.best_path));
  }
  const auto tell_slices = [&parts](const DomainWish& wish, absl::string_view whose) {
    if (wish.slice == nullptr) return;
    parts.push_back(absl::StrCat("slices of ", wish.slice_size, whose, " need one ",
                                 wish.slice->name, " each"));
  };
  tell_slices(choice.gang, "");
  for (size_t i = 0; i < choice.sub_groups.size(); ++i) {
    const DomainWish& wish = choice.sub_groups[i];
    const std::string whose = absl::StrCat("sub-group ", search_.request().sub_group_names[i]);
    if (wish.required) {
      parts.push_back(absl::StrCat(whose, " needs one ", wish.levels.front()->name));
    }
    tell_slices(wish, absl::StrCat(" of ", whose));
  }
  return absl::StrJoin(parts, "; ");
}

}  // namespace maniple
