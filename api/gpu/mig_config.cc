#include "api/gpu/mig_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/gpu/mig_profile.h"

namespace maniple {
namespace {

std::string LabelOf(const std::string& profile) {
  const std::optional<MigProfile> parsed = ParseMigProfile(profile);
  return parsed.has_value() ? MigProfileLabel(*parsed) : profile;
}

// The plain slice of so many compute slices that takes least of the GPU.
const MigSlice* PlainSlice(const MigTable& table, int32_t compute) {
  const MigSlice* best = nullptr;
  for (const MigSlice& slice : table.slices) {
    const std::optional<MigProfile> profile = ParseMigProfile(slice.profile);
    if (slice.compute != compute || !profile.has_value() || !profile->attributes.empty()) continue;
    if (best == nullptr || slice.size < best->size) best = &slice;
  }
  return best;
}

// Two of one compute slice, one of two, and one of three where there is one.
std::optional<MigConfig> Balanced(const MigTable& table) {
  const MigSlice* one = PlainSlice(table, 1);
  const MigSlice* two = PlainSlice(table, 2);
  if (one == nullptr || two == nullptr) return std::nullopt;
  MigConfigPart part{.gpus = std::nullopt, .slices = {{one->profile, 2}, {two->profile, 1}}};
  if (const MigSlice* three = PlainSlice(table, 3)) part.slices.emplace_back(three->profile, 1);
  return MigConfig{.name = "all-balanced", .model = table.model, .parts = {std::move(part)}};
}

// The slices of one GPU; none if it cannot be divided so. A table without placements knows only the
// maximum of each profile: there, a GPU has slices of one profile only.
std::optional<MigCounts> DividedGpu(const MigConfigPart& part, const MigTable& table) {
  MigCounts counts(table.slices.size(), 0);
  int32_t profiles = 0;
  for (const auto& [profile, count] : part.slices) {
    const MigSlice* slice = table.Find(profile);
    if (slice == nullptr || count < 1 || count > slice->max_per_gpu) return std::nullopt;
    int32_t& here = counts[static_cast<size_t>(slice - table.slices.data())];
    if (here > 0) return std::nullopt;  // named twice
    here = count;
    ++profiles;
  }
  const bool legal = table.has_placements() ? FindLayout(table, counts).has_value() : profiles <= 1;
  return legal ? std::optional(counts) : std::nullopt;
}

}  // namespace

std::vector<MigConfig> DefaultMigConfigs(const MigTable& table) {
  std::vector<MigConfig> configs;
  configs.push_back({.name = "all-disabled", .model = table.model, .parts = {{}}});
  for (const MigSlice& slice : table.slices) {
    MigConfigPart part{.gpus = std::nullopt, .slices = {{slice.profile, slice.max_per_gpu}}};
    configs.push_back({.name = absl::StrCat("all-", LabelOf(slice.profile)),
                       .model = table.model,
                       .parts = {std::move(part)}});
  }
  if (std::optional<MigConfig> balanced = Balanced(table)) {
    if (OfferOf(*balanced, table, 1).has_value()) configs.push_back(*std::move(balanced));
  }
  std::sort(configs.begin(), configs.end(),
            [](const MigConfig& a, const MigConfig& b) { return a.name < b.name; });
  return configs;
}

std::optional<MigOffer> OfferOf(const MigConfig& config, const MigTable& table, int32_t gpus) {
  if (!config.model.empty() && config.model != table.model) return std::nullopt;
  MigOffer offer{.whole_gpus = 0, .slices = MigCounts(table.slices.size(), 0)};
  int32_t named = 0, rests = 0;
  for (const MigConfigPart& part : config.parts) {
    if (!part.gpus.has_value()) {
      ++rests;
    } else if (*part.gpus < 0 || *part.gpus > gpus - named) {
      return std::nullopt;
    } else {
      named += *part.gpus;
    }
  }
  if (rests > 1 || (rests == 0 && named < gpus)) return std::nullopt;
  for (const MigConfigPart& part : config.parts) {
    const std::optional<MigCounts> each = DividedGpu(part, table);
    if (!each.has_value()) return std::nullopt;
    const int32_t count = part.gpus.value_or(gpus - named);
    if (part.slices.empty()) offer.whole_gpus += count;
    for (size_t i = 0; i < each->size(); ++i) offer.slices[i] += (*each)[i] * count;
  }
  return offer;
}

std::optional<MigOffer> OfferOf(absl::string_view name, const std::vector<MigConfig>& configs,
                                const MigTable& table, int32_t gpus) {
  const auto has_name = [&](const MigConfig& config) {
    return config.name == name && (config.model.empty() || config.model == table.model);
  };
  if (const auto own = std::ranges::find_if(configs, has_name); own != configs.end()) {
    return OfferOf(*own, table, gpus);
  }
  const std::vector<MigConfig> defaults = DefaultMigConfigs(table);
  const auto known = std::ranges::find_if(defaults, has_name);
  return known == defaults.end() ? std::nullopt : OfferOf(*known, table, gpus);
}

}  // namespace maniple
