// The derived resource scheduling.maniple.dev/gpu-milli: the share of whole GPUs that a pod takes,
// in thousandths.
//
// A whole GPU is 1000; a MIG device is its share of the GPU's compute slices; a shared replica is
// the share of its device divided by the replicas. A part that HAMi cuts off is the larger of its
// shares of cores and memory. All are rounded down, so that a fully used GPU never counts for more
// than 1000. The worth of one unit depends on the node (api/gpu/gpu_facts.h). Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "api/base/amount.h"
#include "api/gpu/gpu_facts.h"
#include "api/model/model.h"

namespace maniple {

inline constexpr char kGpuMilliResource[] = "scheduling.maniple.dev/gpu-milli";

// The facts of a node that decide the worth of its GPU resources.
struct GpuDivision {
  int32_t replicas = 1;        // pods that share one device
  int32_t compute_slices = 7;  // of one GPU, in MIG
  int32_t device_slices = 0;   // of each nvidia.com/gpu, where all GPUs are sliced alike; 0: whole
  bool shares_plain_name = false;              // nvidia.com/gpu itself counts replicas, not GPUs
  std::vector<SharedProfile> shared_profiles;  // by profile
  int64_t divided_memory_mib = 0;              // of one GPU, where HAMi divides it; 0 = unknown
  friend auto operator<=>(const GpuDivision&, const GpuDivision&) = default;
};
[[nodiscard]] GpuDivision GpuDivisionOf(const GpuFacts& gpus);

[[nodiscard]] Amount GpuMilliOf(const PodConstraints& pod, const GpuDivision& division);

}  // namespace maniple
