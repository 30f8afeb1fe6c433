// The factories of all policies: each stands in the source that is named as its policy (nvlink.cc
// has two), and what the policy does is said at the head of that source. `builtin.h` is the table
// of their names.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"
#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeCoolDown();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeGpuCondition();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeInterPodAffinity();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeAffinity();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodePorts();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeResourcesFit();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeUnschedulable();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeVolumeLimits();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakePodTopologySpread();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeRequireNvlink();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeTaintToleration();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeUnsupported();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeBinding();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeRestrictions();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeZone();
[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeWholeGpus();

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeFragmentation();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeGpuAvoidance();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeGpuKind();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeImageLocality();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeNodePreference();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeNvlinkPreference();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakePacking();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakePodAffinityPreference();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeSlicePacking();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeSpreadPreference();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeTaintPreference();

}  // namespace maniple
