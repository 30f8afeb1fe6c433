#include "scheduler/app/config/config_gpu.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/app/config/config_mig.h"

namespace maniple {
namespace {

constexpr int64_t kMostMemoryMib = int64_t{1} << 30;
constexpr int64_t kMostComputeSlices = 64;

void ReadLinkage(Section& section, Problems& problems, GpuLinkage& out) {
  section.Read("linkage", [&](const Json& v, const std::string& path) {
    for (const GpuLinkage linkage :
         {GpuLinkage::kUnknown, GpuLinkage::kNone, GpuLinkage::kPairs, GpuLinkage::kAllToAll}) {
      if (!v.is_string() || LinkageName(linkage) != v.AsString()) continue;
      out = linkage;
      return;
    }
    problems.Wrong(path, "AllToAll, Pairs, None or Unknown", v);
  });
}

// A map of patterns to facts. Maps have no order that a user could rely on: of several patterns
// that match a product the longest counts, for it says most.
void ReadProducts(const Json& map, const std::string& path, Problems& problems, GpuRules& out) {
  Section products(map, path, problems);
  products.ReadAll([&](const std::string& pattern, const Json& v, const std::string& at) {
    if (pattern.empty()) return problems.Add(at, "a pattern must not be empty");
    GpuProduct product{.pattern = pattern};
    Section section(v, at, problems);
    section.String("family", product.family);
    section.Int("memoryMiB", 1, kMostMemoryMib, [&](int64_t mib) { product.memory_mib = mib; });
    section.Int("computeSlices", 1, kMostComputeSlices,
                [&](int64_t slices) { product.compute_slices = static_cast<int32_t>(slices); });
    ReadLinkage(section, problems, product.linkage);
    section.Close();
    out.products.push_back(std::move(product));
  });
  products.Close();
  std::sort(out.products.begin(), out.products.end(), [](const GpuProduct& a, const GpuProduct& b) {
    if (a.pattern.size() != b.pattern.size()) return a.pattern.size() > b.pattern.size();
    return a.pattern < b.pattern;
  });
}

void ReadLabels(const Json& map, const std::string& path, Problems& problems, GpuRules& out) {
  Section labels(map, path, problems);
  labels.Strings("product", out.product);
  labels.Strings("family", out.family);
  labels.Strings("memory", out.memory);
  labels.Strings("count", out.count);
  labels.Strings("replicas", out.replicas);
  labels.Strings("sharingStrategy", out.sharing_strategy);
  labels.Strings("partition", out.partition);
  labels.Strings("migStrategy", out.mig_strategy);
  labels.Strings("migConfigState", out.mig_config_state);
  labels.Strings("driverUpgradeState", out.driver_upgrade_state);
  labels.Strings("nvlinkFabric", out.fabric);
  labels.Close();
}

void ReadLinkageLabels(const Json& list, const std::string& path, Problems& problems,
                       GpuRules& out) {
  if (!list.is_array()) return problems.Wrong(path, "a list", list);
  out.linkage.clear();
  for (size_t i = 0; i < list.items().size(); ++i) {
    const std::string at = absl::StrCat(path, "[", i, "]");
    LinkageRule rule;
    Section section(list.items()[i], at, problems);
    section.String("label", rule.label);
    section.String("value", rule.value);
    ReadLinkage(section, problems, rule.linkage);
    section.Close();
    if (rule.label.empty()) problems.Add(at + ".label", "is required");
    if (rule.value.empty()) problems.Add(at + ".value", "is required");
    out.linkage.push_back(std::move(rule));
  }
}

}  // namespace

void ReadGpuConfig(const Json& map, const std::string& path, Problems& problems, GpuConfig& out) {
  Section section(map, path, problems);
  section.Strings("nvlinkDomainLabels", out.nvlink_domain_labels);
  section.Part("productTable", ReadProducts, out.rules);
  section.Part("labels", ReadLabels, out.rules);
  section.Part("linkageLabels", ReadLinkageLabels, out.rules);
  section.Word<SuspectPolicy>("suspectNodes",
                              {{"Trust", SuspectPolicy::kTrust},
                               {"ScoreDown", SuspectPolicy::kScoreDown},
                               {"Skip", SuspectPolicy::kSkip}},
                              out.rules.suspects);
  section.Part("mig", ReadMigConfig, out.mig);
  section.Close();
}

}  // namespace maniple
