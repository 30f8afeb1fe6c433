#include "api/gpu/gpu_resource.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace maniple {

std::optional<GpuResource> GpuResourceOf(absl::string_view resource) {
  // HAMi's names, which it lets users change; these are its defaults.
  if (resource == "nvidia.com/gpucores") return GpuResource{.kind = GpuKind::kCores, .profile = {}};
  if (resource == "nvidia.com/gpumem") return GpuResource{.kind = GpuKind::kMemory, .profile = {}};
  if (resource == "nvidia.com/gpumem-percentage") {
    return GpuResource{.kind = GpuKind::kMemoryPercent, .profile = {}};
  }
  const bool shared = absl::ConsumeSuffix(&resource, ".shared");
  if (absl::ConsumePrefix(&resource, "nvidia.com/mig-")) {
    if (resource.empty()) return std::nullopt;
    return GpuResource{.kind = GpuKind::kSlice, .profile = std::string(resource), .shared = shared};
  }
  if (absl::EndsWith(resource, "/gpu") || resource == "gpu.intel.com/i915" ||
      resource == "gpu.intel.com/xe") {
    return GpuResource{.kind = GpuKind::kWhole, .profile = {}, .shared = shared};
  }
  return std::nullopt;
}

bool IsOfKnownVendor(absl::string_view resource) {
  (void)absl::ConsumeSuffix(&resource, ".shared");
  absl::string_view slice = resource;
  if (absl::ConsumePrefix(&slice, "nvidia.com/mig-")) return ComputeSlicesOf(slice) > 0;
  return resource == "amd.com/gpu" || absl::StartsWith(resource, "gpu.intel.com/") ||
         absl::StartsWith(resource, "nvidia.com/gpu");
}

int32_t ComputeSlicesOf(absl::string_view profile) {
  const size_t end = profile.find_first_not_of("0123456789");
  int32_t slices = 0;
  if (end == absl::string_view::npos || (profile[end] != 'g' && profile[end] != 'c')) return 0;
  return absl::SimpleAtoi(profile.substr(0, end), &slices) ? slices : 0;
}

}  // namespace maniple
