#include "plugins/builtin.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

constexpr int64_t kMostWeight = 1000;

template <typename Row>
absl::Status CheckName(absl::string_view kind, absl::string_view name, std::span<const Row> table) {
  if (std::any_of(table.begin(), table.end(), [&](const Row& row) { return row.name == name; })) {
    return absl::OkStatus();
  }
  std::string known;
  for (const Row& row : table) absl::StrAppend(&known, known.empty() ? "" : ", ", row.name);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown ", kind, " \"", name, "\"; known are ", known));
}

absl::Status CheckSpec(const ProfileSpec& spec) {
  std::vector<std::string> names = spec.filters;
  for (const std::string& name : spec.filters) {
    if (absl::Status status = CheckName("filter", name, BuiltinFilters()); !status.ok()) {
      return status;
    }
  }
  for (const ProfileSpec::Score& score : spec.scores) {
    if (absl::Status status = CheckName("score", score.name, BuiltinScores()); !status.ok()) {
      return status;
    }
    if (score.weight < 0 || score.weight > kMostWeight) {
      return absl::InvalidArgumentError(absl::StrCat("score ", score.name, ": weight ",
                                                     score.weight, " is not in 0..", kMostWeight));
    }
    names.push_back(score.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("plugin \"", *twice, "\" is named twice"));
}

}  // namespace

std::span<const FilterRow> BuiltinFilters() { return kFilters; }
std::span<const ScoreRow> BuiltinScores() { return kScores; }

absl::StatusOr<Profile> MakeProfile(const ProfileSpec& spec) {
  if (absl::Status status = CheckSpec(spec); !status.ok()) return status;
  Profile profile;
  for (const FilterRow& row : kFilters) {
    const bool wanted =
        std::find(spec.filters.begin(), spec.filters.end(), row.name) != spec.filters.end();
    if (wanted) profile.filters.push_back(row.make());
  }
  for (const ScoreRow& row : kScores) {
    for (const ProfileSpec::Score& score : spec.scores) {
      if (score.name != row.name || score.weight == 0) continue;
      profile.scores.push_back({.plugin = row.make(), .weight = score.weight});
    }
  }
  return profile;
}

Profile BuiltinProfile() {
  Profile profile;
  for (const FilterRow& row : kFilters) profile.filters.push_back(row.make());
  for (const ScoreRow& row : kScores) {
    profile.scores.push_back({.plugin = row.make(), .weight = row.weight});
  }
  return profile;
}

}  // namespace maniple
