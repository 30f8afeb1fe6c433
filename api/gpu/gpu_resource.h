// The names of resources that are GPUs, or parts of GPUs, and the kind of each. The one place that
// knows them: it decides which pods count as GPU pods.
//
//   GpuResourceOf("nvidia.com/mig-3g.40gb.shared")   // a slice of profile "3g.40gb", shared
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

enum class GpuKind : uint8_t {
  kWhole,          // "nvidia.com/gpu" and the like; a slice or a replica on nodes that say so
  kSlice,          // "nvidia.com/mig-<profile>"
  kCores,          // HAMi: percent of one GPU's cores
  kMemory,         // HAMi: MiB of one GPU's memory
  kMemoryPercent,  // HAMi: percent of one GPU's memory
};

struct GpuResource {
  GpuKind kind = GpuKind::kWhole;
  std::string profile;  // of kSlice: "1g.10gb", "1g.10gb.me"
  bool shared = false;  // "….shared": one unit is a replica that its node has renamed
  friend auto operator<=>(const GpuResource&, const GpuResource&) = default;
};

inline constexpr char kNvidiaGpu[] = "nvidia.com/gpu";

// None: no GPU.
[[nodiscard]] std::optional<GpuResource> GpuResourceOf(absl::string_view resource);

// A name that a vendor's device plugin gives its GPUs or slices of them; others are told by their
// form alone ("example.com/gpu").
[[nodiscard]] bool IsOfKnownVendor(absl::string_view resource);

// The compute slices of a MIG profile: "3g.20gb" has 3, "1c.3g.20gb" (one compute
// instance of it) 1; 0 for any other text.
[[nodiscard]] int32_t ComputeSlicesOf(absl::string_view profile);

}  // namespace maniple
