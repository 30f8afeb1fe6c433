#include "test/fuzz/gpu_targets.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/gpu/gpu_facts.h"
#include "api/gpu/gpu_resource.h"
#include "api/gpu/mig_config.h"
#include "api/gpu/mig_layout.h"
#include "api/gpu/mig_profile.h"
#include "api/gpu/mig_tables.h"
#include "test/fuzz/byte_source.h"
#include "test/support/mig_layouts.h"

namespace maniple {
namespace {

Node NodeOf(absl::string_view text) {
  Node node;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool allocatable = absl::ConsumePrefix(&line, "@");
    const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits('=', 1));
    int64_t amount = 0;
    if (!allocatable) {
      node.meta.labels.Set(field.first, field.second);
    } else if (absl::SimpleAtoi(field.second, &amount) && amount > 0) {
      node.allocatable.push_back({field.first, Amount(amount)});
    }
  }
  std::ranges::sort(node.allocatable);
  const auto repeated =
      std::unique(node.allocatable.begin(), node.allocatable.end(),
                  [](const auto& a, const auto& b) { return a.resource == b.resource; });
  node.allocatable.erase(repeated, node.allocatable.end());
  return node;
}

// Legal layouts of every table that has placements, counted once.
struct Known {
  const MigTable* table;
  std::vector<MigCounts> counts;
};
const std::vector<Known>& KnownLayouts() {
  static const MigTables& tables = *new MigTables();
  static const auto& known = *new std::vector<Known>([] {
    std::vector<Known> out;
    for (const MigTable& table : tables.all()) {
      if (!table.has_placements()) continue;
      out.push_back({&table, {}});
      for (const MigLayout& layout : LegalLayouts(table)) {
        out.back().counts.push_back(CountsOf(table, layout));
      }
      out.back().counts.emplace_back(table.slices.size(), 0);
      std::ranges::sort(out.back().counts);
    }
    return out;
  }());
  return known;
}

std::string WrongOffer(const MigTable& table, const MigCounts& counts, bool legal, int32_t gpus) {
  MigConfig config{.name = "fuzzed", .model = table.model, .parts = {{}}};
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) config.parts[0].slices.emplace_back(table.slices[i].profile, counts[i]);
  }
  const bool divided = !config.parts[0].slices.empty();
  const std::optional<MigOffer> offer = OfferOf(config, table, gpus);
  if (offer.has_value() != legal) return legal ? "a layout is not offered" : "an offer of nothing";
  if (!legal) return "";
  if (offer->whole_gpus != (divided ? 0 : gpus)) return "whole GPUs that are not there";
  for (size_t i = 0; i < table.slices.size(); ++i) {
    const int64_t have = i < offer->slices.size() ? offer->slices[i] : 0;
    if (have != int64_t{counts[i]} * gpus) return "not so many slices for each GPU";
  }
  return "";
}

}  // namespace

std::string FuzzMigProfile(absl::string_view bytes) {
  if (ComputeSlicesOf(bytes) < 0) return "a negative number of compute slices";
  if (const auto resource = GpuResourceOf(bytes); resource.has_value()) {
    if (resource->kind == GpuKind::kSlice && resource->profile.empty()) return "a slice of nothing";
  }
  const std::optional<MigProfile> of_resource = MigProfileOfResource(bytes);
  if (of_resource.has_value() && MigResourceName(*of_resource) != bytes) {
    return absl::StrCat("another resource: ", MigResourceName(*of_resource));
  }
  const std::optional<MigProfile> profile = ParseMigProfile(bytes);
  if (!profile.has_value()) return "";
  if (profile->compute < 0 || profile->gigabytes < 0 || profile->compute_instance < 0) {
    return "a negative size";
  }
  if (MigProfileName(*profile) != bytes) return absl::StrCat("named ", MigProfileName(*profile));
  // Two attributes stand in no name of a resource.
  if (profile->attributes.find(',') != std::string::npos) return "";
  return MigProfileOfResource(MigResourceName(*profile)) == profile ? ""
                                                                    : "another profile by resource";
}

std::string FuzzGpuLabels(absl::string_view bytes) {
  const Node node = NodeOf(bytes);
  const GpuFacts facts = GpuFactsOf(node, GpuRules());
  if (facts.memory_mib < 0 || facts.count < 0) return "a negative amount";
  if (facts.replicas < 1) return absl::StrCat(facts.replicas, " replicas");
  if (facts.compute_slices < 1 || facts.compute_slices > 16) return "an unheard-of division";
  for (const SharedProfile& shared : facts.shared_profiles) {
    if (shared.replicas < 1 || shared.profile.empty()) return "a profile shared by nobody";
  }
  if (!std::ranges::is_sorted(facts.shared_profiles)) return "shared profiles out of order";
  if (facts.sharing == GpuSharing::kNone && facts.shares_plain_name) return "shared, and not";
  if (facts.product.find_first_of(" _abcdefghijklmnopqrstuvwxyz") != std::string::npos) {
    return absl::StrCat("a product that is not normal: ", facts.product);
  }
  // What is allocatable says how many there are to give, and nothing of what they are.
  Node more = node;
  for (ResourceAmount& amount : more.allocatable) amount.amount = Amount(1'000);
  return GpuFactsOf(more, GpuRules()).count == facts.count ? ""
                                                           : "labels count what is allocatable";
}

std::string FuzzMigLayout(absl::string_view bytes) {
  ByteSource source(bytes);
  const std::vector<Known>& all = KnownLayouts();
  const Known& known = all[static_cast<size_t>(source.Below(static_cast<int>(all.size())))];
  const MigTable& table = *known.table;
  const int32_t gpus = 1 + source.Below(16);
  MigCounts counts;
  for (const MigSlice& slice : table.slices) {
    counts.push_back(source.Below(std::min(slice.max_per_gpu, 254) + 2));
  }
  const bool legal = std::ranges::binary_search(known.counts, counts);
  const std::optional<MigLayout> layout = FindLayout(table, counts);
  if (layout.has_value() != legal) return legal ? "a legal layout is not found" : "found illegally";
  if (layout.has_value() && CountsOf(table, *layout) != counts) return "found with other slices";
  if (layout.has_value() && !layout->empty() && !IsLegal(table, *layout)) return "not legal";
  return WrongOffer(table, counts, legal, gpus);
}

}  // namespace maniple
