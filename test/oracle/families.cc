#include "test/oracle/families.h"

#include <algorithm>

#include "api/base/check.h"

namespace maniple {

std::span<const FilterFamily> FilterFamilies() {
  using enum FilterFamily::Likeness;
  static const auto* const kFamilies = new std::vector<FilterFamily>{
      {"nodename", {}, "", kSameOrder, NodeNameCase},
      {"nodeunschedulable", {"NodeUnschedulable"}, "", kSameOrder, NodeUnschedulableCase},
      {"tainttoleration", {"TaintToleration"}, "TaintPreference", kSameOrder, TaintCase},
      {"nodeaffinity", {"NodeAffinity"}, "NodePreference", kSameOrder, NodeAffinityCase},
      {"imagelocality", {"NodeUnschedulable"}, "ImageLocality", kEqual, ImageCase},
      {"nodeports", {"NodePorts"}, "", kSameOrder, NodePortsCase},
      {"noderesources", {"NodeResourcesFit"}, "", kSameOrder, ResourcesCase},
      {"podtopologyspread", {"PodTopologySpread"}, "SpreadPreference", kEqual, TopologySpreadCase},
      {"interpodaffinity", {"InterPodAffinity"}, "PodAffinityPreference", kEqual, PodAffinityCase},
      {"volumebinding", {"VolumeBinding"}, "", kSameOrder, VolumeBindingCase},
      {"volumezone", {"VolumeBinding", "VolumeZone"}, "", kSameOrder, VolumeZoneCase},
      {"volumerestrictions",
       {"VolumeBinding", "VolumeRestrictions"},
       "",
       kSameOrder,
       VolumeRestrictionsCase},
      {"nodevolumelimits", {"VolumeBinding", "NodeVolumeLimits"}, "", kSameOrder, VolumeLimitsCase},
  };
  return *kFamilies;
}

const FilterFamily& FamilyNamed(absl::string_view name) {
  const auto families = FilterFamilies();
  const auto at = std::find_if(families.begin(), families.end(),
                               [name](const FilterFamily& family) { return family.name == name; });
  CHECK(at != families.end()) << "no family " << name;
  return *at;
}

Json CaseOf(const FilterFamily& family, uint64_t number) {
  Random random(number);
  Json out = family.make(random);
  out.Set("family", family.name);
  if (!family.score.empty()) out.Set("scores", true);
  return out;
}

}  // namespace maniple
