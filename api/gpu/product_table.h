// The facts about a GPU that follow from its product name alone: memory, links within one machine,
// and the number of its compute slices under MIG.
//
// Pure functions over a table of ours and rows of the configuration, which come first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// How the GPUs of one machine are linked. GPU indices are invisible to a scheduler, so this is all
// that a promise can rest on.
enum class GpuLinkage : uint8_t {
  kUnknown,   // not told: nothing is promised
  kNone,      // over PCIe only
  kPairs,     // each GPU has at least the one peer of its pair
  kAllToAll,  // NVSwitch, or a link between any two
};
[[nodiscard]] absl::string_view LinkageName(GpuLinkage linkage);  // "AllToAll", "Pairs", …

struct GpuProduct {
  std::string pattern;     // of normalised names; '*' stands for anything
  std::string family;      // "hopper"; "" = not said
  int64_t memory_mib = 0;  // 0 = not said
  GpuLinkage linkage = GpuLinkage::kUnknown;
  int32_t compute_slices = 0;  // 0 = not said; most parts have 7
  friend auto operator<=>(const GpuProduct&, const GpuProduct&) = default;
};

// A product as all sources would write it: "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED",
// "Tesla-A100-SXM4-80GB" and "nvidia a100 sxm4 80gb" are "A100-SXM4-80GB".
[[nodiscard]] std::string NormalisedProduct(absl::string_view label);

// The first row that matches the normalised product, `overrides` before our own. None: unknown.
[[nodiscard]] std::optional<GpuProduct> FindProduct(absl::string_view product,
                                                    std::span<const GpuProduct> overrides);

}  // namespace maniple
