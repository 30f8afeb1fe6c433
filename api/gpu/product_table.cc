#include "api/gpu/product_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace maniple {
namespace {

struct Row {
  absl::string_view pattern;
  absl::string_view family;
  int64_t memory_mib;
  GpuLinkage linkage;
  int32_t compute_slices = 7;
};

constexpr GpuLinkage kAll = GpuLinkage::kAllToAll;
constexpr GpuLinkage kPairs = GpuLinkage::kPairs;
constexpr GpuLinkage kNone = GpuLinkage::kNone;

// Names as GPU Feature Discovery takes them from NVML, less the maker. Bare names ("A100", "H100")
// are those of clouds (cloud.google.com/gke-accelerator, karpenter.k8s.aws/instance-gpu-name),
// whose machines of these are HGX boards. Links: NVIDIA's DGX and HGX user guides (NVSwitch: any
// two GPUs are peers), product briefs of the PCIe boards (bridges join two, for the H200 NVL two
// or four); memory: what NVML reports, or the nominal size; slices: MIG user guide, "Supported MIG
// profiles". The first row that matches counts.
constexpr Row kProducts[] = {
    {"GB300*", "blackwell", 284672, kAll},  // trays of 4 on the switches of their rack
    {"GB200*", "blackwell", 190464, kAll},
    {"B300*", "blackwell", 275456, kAll},
    {"B200*", "blackwell", 183359, kAll},
    {"B100*", "blackwell", 183359, kAll},
    {"RTX-PRO-6000*", "blackwell", 97887, kNone, 4},
    {"RTX-PRO-5000*", "blackwell", 48935, kNone, 4},

    {"GH200*144*", "hopper", 147456, kAll},
    {"GH200*", "hopper", 98304, kAll},
    {"H200-NVL*", "hopper", 143771, kPairs},
    {"H200", "hopper", 143771, kAll},
    {"H200-*", "hopper", 143771, kAll},
    {"H100-NVL*", "hopper", 95830, kPairs},
    {"H100*-PCIE*", "hopper", 81559, kPairs},
    {"H100", "hopper", 81559, kAll},
    {"H100-*", "hopper", 81559, kAll},
    {"H800*-PCIE*", "hopper", 81559, kPairs},
    {"H800", "hopper", 81559, kAll},
    {"H800-*", "hopper", 81559, kAll},
    {"H20", "hopper", 97871, kAll},
    {"H20-*", "hopper", 97871, kAll},

    {"A100*-PCIE-80GB*", "ampere", 81920, kPairs},
    {"A100-80GB-PCIE*", "ampere", 81920, kPairs},
    {"A100*-PCIE*", "ampere", 40960, kPairs},
    {"A100-*80GB*", "ampere", 81920, kAll},
    {"A100-*64GB*", "ampere", 65536, kAll},
    {"A100", "ampere", 40960, kAll},
    {"A100-*", "ampere", 40960, kAll},
    {"A800*-PCIE*", "ampere", 81920, kPairs},
    {"A800-*", "ampere", 81920, kAll},
    {"A30", "ampere", 24576, kPairs, 4},
    {"A10", "ampere", 24576, kNone},
    {"A10G", "ampere", 24576, kNone},
    {"A10M", "ampere", 24576, kNone},
    {"A16", "ampere", 16384, kNone},
    {"A2", "ampere", 16384, kNone},

    {"L40S", "ada-lovelace", 46068, kNone},
    {"L40", "ada-lovelace", 46068, kNone},
    {"L20", "ada-lovelace", 46068, kNone},
    {"L4", "ada-lovelace", 23034, kNone},
    {"L2", "ada-lovelace", 24576, kNone},

    {"T4", "turing", 15360, kNone},
    {"T4G", "turing", 15360, kNone},

    // Sixteen of them on NVSwitch (DGX-2).
    {"V100-SXM3*", "volta", 32768, kAll},
    // Eight in a cube mesh (DGX-1V): two groups of four, all-to-all within,
    // one link from each GPU to the other group. Every GPU has more peers than one,
    // so the promise for pairs holds here; more is not promised.
    {"V100-SXM2-32GB*", "volta", 32768, kPairs},
    {"V100-SXM2*", "volta", 16384, kPairs},
    {"V100", "volta", 16384, kPairs},
    {"V100*-PCIE*", "volta", 16384, kNone},
    {"P100-SXM2*", "pascal", 16384, kPairs},
    {"P100*", "pascal", 16384, kNone},
    {"P40", "pascal", 24576, kNone},
    {"P4", "pascal", 7680, kNone},

    // Some of these can be bridged, few are; the configuration tells of bridges.
    {"RTX*", "", 0, kNone},
    {"GEFORCE*", "", 0, kNone},
    {"QUADRO*", "", 0, kNone},
    {"TITAN*", "", 0, kNone},
};

// Greedy with one point of return: linear in practice, and no recursion on hostile names.
bool GlobMatches(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0, star = absl::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

absl::string_view LinkageName(GpuLinkage linkage) {
  switch (linkage) {
    case GpuLinkage::kUnknown:
      return "Unknown";
    case GpuLinkage::kNone:
      return "None";
    case GpuLinkage::kPairs:
      return "Pairs";
    case GpuLinkage::kAllToAll:
      return "AllToAll";
  }
  return "Unknown";
}

std::string NormalisedProduct(absl::string_view label) {
  std::string name = absl::AsciiStrToUpper(absl::StripAsciiWhitespace(label));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '_'; }, '-');
  absl::string_view product = name;
  absl::ConsumeSuffix(&product, "-SHARED");
  if (const size_t mig = product.rfind("-MIG-"); mig != absl::string_view::npos) {
    product = product.substr(0, mig);
  }
  absl::ConsumePrefix(&product, "NVIDIA-");
  absl::ConsumePrefix(&product, "TESLA-");
  return std::string(product);
}

std::optional<GpuProduct> FindProduct(absl::string_view product,
                                      std::span<const GpuProduct> overrides) {
  if (product.empty()) return std::nullopt;
  std::optional<GpuProduct> known;
  for (const Row& row : kProducts) {
    if (!GlobMatches(row.pattern, product)) continue;
    known = GpuProduct{.pattern = std::string(row.pattern),
                       .family = std::string(row.family),
                       .memory_mib = row.memory_mib,
                       .linkage = row.linkage,
                       .compute_slices = row.compute_slices};
    break;
  }
  for (const GpuProduct& override : overrides) {
    if (!GlobMatches(NormalisedProduct(override.pattern), product)) continue;
    if (!known.has_value()) return override;
    // A row of the configuration may be about links alone.
    GpuProduct merged = override;
    if (merged.family.empty()) merged.family = known->family;
    if (merged.memory_mib == 0) merged.memory_mib = known->memory_mib;
    if (merged.linkage == GpuLinkage::kUnknown) merged.linkage = known->linkage;
    if (merged.compute_slices == 0) merged.compute_slices = known->compute_slices;
    return merged;
  }
  return known;
}

}  // namespace maniple
