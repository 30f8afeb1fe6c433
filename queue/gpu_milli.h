// The derived resource scheduling.maniple.dev/gpu-milli: how much of whole GPUs a pod takes, in
// thousandths.
//
// A whole GPU is 1000, a MIG device its share of the GPU's compute slices rounded down, a shared
// replica 1000 / replicas. What one unit of a resource is depends on the node, by the labels of GPU
// Feature Discovery: nvidia.com/gpu.product ("…-MIG-1g.5gb" where every GPU is sliced alike,
// "…-SHARED" where replicas keep the name), nvidia.com/gpu.replicas,
// nvidia.com/gpu.sharing-strategy. Pure functions.
#pragma once

#include <cstdint>

#include "api/base/amount.h"
#include "api/model/model.h"

namespace maniple {

inline constexpr char kGpuMilliResource[] = "scheduling.maniple.dev/gpu-milli";

// What of a node decides how much a GPU resource of it is.
struct GpuDivision {
  int32_t replicas = 1;        // pods that share one device
  int32_t compute_slices = 7;  // of one GPU, in MIG
  int32_t device_slices = 0;   // of each nvidia.com/gpu, where all GPUs are sliced alike; 0: whole
  bool shares_plain_name = false;  // nvidia.com/gpu itself counts replicas, not GPUs
  friend auto operator<=>(const GpuDivision&, const GpuDivision&) = default;
};
[[nodiscard]] GpuDivision GpuDivisionOf(const StringMap& node_labels);

[[nodiscard]] Amount GpuMilliOf(const ResourceAmounts& requests, const GpuDivision& division);

}  // namespace maniple
