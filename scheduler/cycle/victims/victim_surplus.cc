#include "scheduler/cycle/victims/victim_surplus.h"

#include <algorithm>

#include "queue/assembly.h"

namespace maniple {

Surplus SurplusOf(const Gang& gang) {
  // Its PodGroup was deleted before this process looked: nobody knows whom it can do without.
  if (!gang.declared) return Surplus();
  Surplus surplus{.members = int64_t{gang.cleaned.count()} - std::max(1, gang.spec.min_member),
                  .sub_groups = {}};
  const std::vector<int32_t> cleaned = CleanedBySubGroup(gang);
  for (size_t i = 0; i < cleaned.size(); ++i) {
    surplus.sub_groups.push_back(int64_t{cleaned[i]} -
                                 std::max(0, gang.spec.sub_groups[i].min_member));
  }
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound && member.state != MemberState::kSucceeded) continue;
    ++surplus.members;
    const auto part = static_cast<size_t>(member.rank.sub_group);
    if (part < surplus.sub_groups.size()) ++surplus.sub_groups[part];
  }
  const bool stands = surplus.members >= 0 &&
                      std::ranges::all_of(surplus.sub_groups, [](int64_t n) { return n >= 0; });
  return stands ? surplus : Surplus();
}

}  // namespace maniple
