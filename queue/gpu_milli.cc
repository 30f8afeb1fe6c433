#include "queue/gpu_milli.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace maniple {
namespace {

constexpr int64_t kWholeGpu = 1000;
constexpr char kMigPrefix[] = "nvidia.com/mig-";

// The compute slices of a profile: "3g.20gb" has 3, "1c.3g.20gb" (one compute instance of it) 1.
int32_t SlicesOf(absl::string_view profile) {
  const size_t end = profile.find_first_not_of("0123456789");
  int32_t slices = 0;
  if (end == absl::string_view::npos || (profile[end] != 'g' && profile[end] != 'c')) return 0;
  return absl::SimpleAtoi(profile.substr(0, end), &slices) ? slices : 0;
}

Amount ShareOf(int32_t slices, const GpuDivision& division) {
  return Amount(std::min(kWholeGpu, kWholeGpu * slices / division.compute_slices));
}

Amount EachOf(absl::string_view resource, const GpuDivision& division) {
  const bool shared = absl::ConsumeSuffix(&resource, ".shared");
  Amount each;
  bool counts_replicas = shared;
  if (resource == "nvidia.com/gpu") {
    each =
        division.device_slices > 0 ? ShareOf(division.device_slices, division) : Amount(kWholeGpu);
    counts_replicas = shared || division.shares_plain_name;
  } else if (absl::ConsumePrefix(&resource, kMigPrefix)) {
    each = ShareOf(SlicesOf(resource), division);
  } else if (resource == "amd.com/gpu" || resource == "gpu.intel.com/i915" ||
             resource == "gpu.intel.com/xe") {
    each = Amount(kWholeGpu);
  }
  return counts_replicas ? Amount(each.units() / division.replicas) : each;
}

}  // namespace

GpuDivision GpuDivisionOf(const StringMap& node_labels) {
  GpuDivision division;
  absl::string_view product = node_labels.Get("nvidia.com/gpu.product");
  // Parts with four compute slices; all others that can be sliced have seven (NVIDIA MIG user
  // guide, "Supported MIG profiles").
  if (absl::StrContains(product, "A30") || absl::StrContains(product, "RTX-PRO-6000") ||
      absl::StrContains(product, "RTX-PRO-5000")) {
    division.compute_slices = 4;
  }
  division.shares_plain_name = absl::ConsumeSuffix(&product, "-SHARED");
  if (const size_t mig = product.rfind("-MIG-"); mig != absl::string_view::npos) {
    division.device_slices = SlicesOf(product.substr(mig + 5));
  }
  int32_t replicas = 0;
  const bool sharing =
      division.shares_plain_name || !node_labels.Get("nvidia.com/gpu.sharing-strategy").empty();
  if (sharing && absl::SimpleAtoi(node_labels.Get("nvidia.com/gpu.replicas"), &replicas) &&
      replicas > 1) {
    division.replicas = replicas;
  }
  return division;
}

Amount GpuMilliOf(const ResourceAmounts& requests, const GpuDivision& division) {
  Amount total;
  for (const ResourceAmount& request : requests) {
    total += EachOf(request.resource, division) * request.amount.units();
  }
  return total;
}

}  // namespace maniple
