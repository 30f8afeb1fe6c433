#include "scheduler/loop/records/whole_units.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "queue/assembly.h"

namespace maniple {
namespace {

// 1: its members start one by one.
int32_t UnitSize(const Gang& gang, int32_t sub_group) {
  if (gang.foreign == nullptr || sub_group < 0) return 1;
  const std::vector<int32_t>& sizes = gang.foreign->unit_sizes;
  const auto part = static_cast<size_t>(sub_group);
  return part < sizes.size() ? sizes[part] : 1;
}

// By number of the unit.
using Counts = absl::btree_map<int32_t, int32_t>;

Counts WantedByUnit(const GangRequest& request) {
  Counts wanted;
  for (const Want& want : request.wants) {
    if (want.unit >= 0) ++wanted[want.unit];
  }
  return wanted;
}

}  // namespace

void MarkUnits(const Gang& gang, GangRequest& request) {
  if (gang.foreign == nullptr || gang.foreign->unit_sizes.empty()) return;
  Counts members;  // that exist, by rank group
  for (const Want& want : request.wants) ++members[want.rank.group];
  for (const Pinned& pinned : request.pinned) ++members[pinned.rank.group];
  for (Want& want : request.wants) {
    // Without labels that tell replicas apart, a group is no unit.
    if (members[want.rank.group] <= UnitSize(gang, want.sub_group)) want.unit = want.rank.group;
  }
  std::erase_if(request.wants, [&](const Want& want) {
    const int32_t size = UnitSize(gang, want.sub_group);
    return size > 1 && members[want.rank.group] < size;
  });
}

std::vector<int32_t> UnitsOf(const Gang& gang) {
  if (gang.foreign == nullptr || gang.foreign->unit_sizes.empty()) return {};
  std::vector<int32_t> units = RankGroupsOf(gang);
  Counts bound;
  for (size_t i = 0; i < units.size(); ++i) {
    bound[units[i]] += gang.members[i].state == MemberState::kBound;
  }
  for (size_t i = 0; i < units.size(); ++i) {
    const int32_t size = UnitSize(gang, gang.members[i].rank.sub_group);
    if (size == 1 || bound[units[i]] > size) units[i] = -1;
  }
  return units;
}

void DropPartOfUnits(const GangRequest& request, Plan& plan) {
  absl::btree_map<PodId, int32_t> unit_of;
  for (const Want& want : request.wants) {
    if (want.unit >= 0) unit_of.emplace(want.pod, want.unit);
  }
  if (unit_of.empty()) return;
  Counts lacking = WantedByUnit(request);
  for (const Placement& place : plan.placements) {
    if (const auto unit = unit_of.find(place.pod); unit != unit_of.end()) --lacking[unit->second];
  }
  std::erase_if(plan.placements, [&](const Placement& place) {
    const auto unit = unit_of.find(place.pod);
    return unit != unit_of.end() && lacking[unit->second] > 0;
  });
}

std::vector<GangRequest> RequestsForOneUnit(const GangRequest& request) {
  std::vector<GangRequest> requests;
  const Counts wanted = WantedByUnit(request);
  absl::btree_set<int32_t> sub_groups;
  for (const Want& want : request.wants) {
    const bool several = want.unit >= 0 && wanted.at(want.unit) > 1;
    if (!several || !sub_groups.insert(want.sub_group).second) continue;
    GangRequest one = request;
    std::erase_if(one.wants, [&want](const Want& other) { return other.unit != want.unit; });
    one.scope = DecideScope::kQuorum;
    one.need = {.total = static_cast<int32_t>(one.wants.size()),
                .sub_groups = std::vector<int32_t>(request.sub_group_topologies.size(), 0)};
    requests.push_back(std::move(one));
  }
  return requests;
}

}  // namespace maniple
