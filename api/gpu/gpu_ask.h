// The GPU request of a pod, worked out once per shape: the resources, the most in one container,
// and any wish for slices or shared GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "api/gpu/gpu_resource.h"
#include "api/gpu/gpu_rules.h"
#include "api/model/model.h"

namespace maniple {

struct GpuRequest {
  GpuResource what;
  int64_t amount = 0;              // of the whole pod
  int64_t most_per_container = 0;  // of the container that asks for most
  friend auto operator<=>(const GpuRequest&, const GpuRequest&) = default;
};

struct GpuAsk {
  std::vector<GpuRequest> requests;
  // Its node selector or affinity asks for nodes whose GPUs are slices, or are shared.
  bool names_slices = false;
  bool names_shared = false;

  // Devices of the kind; replicas under a name of their own are not among them.
  [[nodiscard]] int64_t Devices(GpuKind kind) const;
  // GPUs, slices and replicas together: the devices that links would have to join.
  [[nodiscard]] int64_t AllDevices() const;
  friend auto operator<=>(const GpuAsk&, const GpuAsk&) = default;
};

[[nodiscard]] GpuAsk GpuAskOf(const PodConstraints& constraints, const GpuRules& rules);

}  // namespace maniple
