#include "plugins/builtin.h"

#include "plugins/factories.h"

namespace maniple {
namespace {

// Reasons that no room can cure come before reasons that room can.
constexpr FilterRow kFilters[] = {
    {"Unsupported", MakeUnsupported},
    {"NodeUnschedulable", MakeNodeUnschedulable},
    {"TaintToleration", MakeTaintToleration},
    {"NodeAffinity", MakeNodeAffinity},
    {"GpuCondition", MakeGpuCondition},
    {"WholeGpus", MakeWholeGpus},
    {"VolumeBinding", MakeVolumeBinding},
    {"VolumeZone", MakeVolumeZone},
    {"NodeResourcesFit", MakeNodeResourcesFit},
    {"RequireNvlink", MakeRequireNvlink},
    {"NodePorts", MakeNodePorts},
    {"VolumeRestrictions", MakeVolumeRestrictions},
    {"NodeVolumeLimits", MakeNodeVolumeLimits},
    {"PodTopologySpread", MakePodTopologySpread},
    {"InterPodAffinity", MakeInterPodAffinity},
    {"CoolDown", MakeCoolDown},
};

// Weights for scores of 0..100 each:
// - Packing and Fragmentation stand 1 to 8 by the experiment of bench/quality: 900 together.
//   That is the weight of kube-scheduler's two resource scores beside its preferences,
//   which stand here in its proportions (3 for taints, 2 for terms and 1 for images to a sum of 2).
// - Promised links stand 80 of 100 above possible or absent ones: 960, more than all packing. So do
//   slices, which are kept together for the sake of whole idle nodes. Fragmentation knows nothing
//   of these, since it looks at pods and not at nodes.
// - GPUs of another kind than the pod asks for cost more than all other scores can win back, the
//   least misfit being 30 of 100. So does a GPU node for a pod without GPUs.
constexpr ScoreRow kScores[] = {
    {"GpuKind", 250, MakeGpuKind},
    {"GpuAvoidance", 55, MakeGpuAvoidance},
    {"TaintPreference", 14, MakeTaintPreference},
    {"NodePreference", 9, MakeNodePreference},
    {"NvlinkPreference", 12, MakeNvlinkPreference},
    {"Fragmentation", 8, MakeFragmentation},
    {"SpreadPreference", 9, MakeSpreadPreference},
    {"PodAffinityPreference", 9, MakePodAffinityPreference},
    {"ImageLocality", 4, MakeImageLocality},
    {"Packing", 1, MakePacking},
    {"SlicePacking", 10, MakeSlicePacking},  // where Packing has no say
};

}  // namespace

std::span<const FilterRow> BuiltinFilters() { return kFilters; }
std::span<const ScoreRow> BuiltinScores() { return kScores; }

Profile BuiltinProfile() {
  Profile profile;
  for (const FilterRow& row : kFilters) profile.filters.push_back(row.make());
  for (const ScoreRow& row : kScores) {
    profile.scores.push_back({.plugin = row.make(), .weight = row.weight});
  }
  return profile;
}

}  // namespace maniple
