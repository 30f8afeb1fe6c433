#include "queue/gpu_milli.h"

#include <algorithm>
#include <optional>

#include "api/gpu/gpu_resource.h"

namespace maniple {
namespace {

constexpr int64_t kWholeGpu = 1000;

Amount ShareOf(int32_t slices, const GpuDivision& division) {
  return Amount(std::min(kWholeGpu, kWholeGpu * slices / division.compute_slices));
}

// The number of pods that share one device of the profile, under the requested name.
int32_t ReplicasOf(const GpuResource& slice, const GpuDivision& division) {
  for (const SharedProfile& shared : division.shared_profiles) {
    if (shared.profile == slice.profile) {
      return slice.shared || shared.keeps_name ? shared.replicas : 1;
    }
  }
  return slice.shared ? division.replicas : 1;
}

// The worth of one unit; further requests to HAMi are not looked at.
Amount EachOf(const GpuResource& what, const GpuDivision& division) {
  switch (what.kind) {
    case GpuKind::kWhole: {
      const Amount device = division.device_slices > 0 ? ShareOf(division.device_slices, division)
                                                       : Amount(kWholeGpu);
      const bool replica = what.shared || division.shares_plain_name;
      return replica ? Amount(device.units() / division.replicas) : device;
    }
    case GpuKind::kSlice:
      return Amount(ShareOf(ComputeSlicesOf(what.profile), division).units() /
                    ReplicasOf(what, division));
    case GpuKind::kCores:
    case GpuKind::kMemory:
    case GpuKind::kMemoryPercent:
      return Amount();
  }
  return Amount();
}

// The request of the container that asks for the most of the resource.
Amount MostOfOne(const PodConstraints& pod, const ResourceAmount& request) {
  for (const ResourceAmount& of_one : pod.most_per_container) {
    if (of_one.resource == request.resource) return of_one.amount;
  }
  return request.amount;
}

// The part of each GPU that HAMi cuts off for the pod; a whole one unless the pod asks for less. Of
// containers that ask for different parts the largest counts.
int64_t PartOf(const PodConstraints& pod, const GpuDivision& division) {
  std::optional<int64_t> part;
  const auto note = [&part](int64_t share) {
    part = std::max(part.value_or(0), std::clamp<int64_t>(share, 0, kWholeGpu));
  };
  for (const ResourceAmount& request : pod.requests) {
    const std::optional<GpuResource> what = GpuResourceOf(request.resource);
    if (!what.has_value()) continue;
    const int64_t most = MostOfOne(pod, request).units();
    if (what->kind == GpuKind::kCores || what->kind == GpuKind::kMemoryPercent) {
      note(std::clamp<int64_t>(most, 0, 100) * kWholeGpu / 100);
    } else if (what->kind == GpuKind::kMemory) {
      const int64_t whole = division.divided_memory_mib;
      note(whole <= 0 ? kWholeGpu : std::clamp<int64_t>(most, 0, whole) * kWholeGpu / whole);
    }
  }
  return part.value_or(kWholeGpu);
}

}  // namespace

GpuDivision GpuDivisionOf(const GpuFacts& gpus) {
  GpuDivision division{.replicas = gpus.replicas,
                       .compute_slices = gpus.compute_slices,
                       .device_slices = ComputeSlicesOf(gpus.mig_profile),
                       .shares_plain_name = gpus.shares_plain_name,
                       .shared_profiles = gpus.shared_profiles};
  if (gpus.sharing == GpuSharing::kHami) division.divided_memory_mib = gpus.memory_mib;
  return division;
}

Amount GpuMilliOf(const PodConstraints& pod, const GpuDivision& division) {
  Amount total;
  const int64_t part = PartOf(pod, division);
  for (const ResourceAmount& request : pod.requests) {
    const std::optional<GpuResource> what = GpuResourceOf(request.resource);
    if (!what.has_value()) continue;
    const int64_t each = EachOf(*what, division).units() * part / kWholeGpu;
    total += Amount(each) * request.amount.units();
  }
  return total;
}

}  // namespace maniple
