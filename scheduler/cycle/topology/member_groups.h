// Members that must be in one domain together: a slice of consecutive ranks, or a sub-group that
// requires a level of its own. Pure functions of request and choice.
//
// A slice is ⌊rank / size⌋ within a sub-group and job or role, also where ranks are missing.
// Members without a rank count in their order; where some of them stand already,
// the others fill up their slices first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {

struct MemberGroup {
  const DomainLevel* level = nullptr;
  std::vector<size_t> wants;   // ascending
  std::vector<size_t> pinned;  // of the request
  // The domain to which standing members bind the others; kOutside: they are torn apart,
  // or in none.
  std::optional<uint32_t> bound_to;

  [[nodiscard]] bool torn() const { return bound_to == DomainLevel::kOutside; }
};

struct MemberGroups {
  static constexpr int32_t kNone = -1;

  std::vector<MemberGroup> slices;      // in order of rank
  std::vector<MemberGroup> sub_groups;  // sub-groups that require a level
  std::vector<int32_t> slice_of;        // by want: into slices
  std::vector<int32_t> sub_group_of;    // by want: into sub_groups

  [[nodiscard]] bool empty() const { return slices.empty() && sub_groups.empty(); }
  // No node may take the want, whatever room there is.
  [[nodiscard]] bool Stuck(size_t want) const;
  // The same wants, none of them bound to another.
  [[nodiscard]] MemberGroups Unbound() const;
  // The same for some of the wants, which are numbered anew.
  [[nodiscard]] MemberGroups Of(const std::vector<size_t>& wants) const;
};

[[nodiscard]] MemberGroups GroupsOf(const Snapshot& snapshot, const GangRequest& request,
                                    const DomainChoice& choice);

}  // namespace maniple
