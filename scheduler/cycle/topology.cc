#include "scheduler/cycle/topology.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

constexpr absl::string_view kNvlink = "nvlink";
constexpr absl::string_view kHostLabel = "kubernetes.io/hostname";

// A word of the request where a level may stand: the place of a level in its Topology, or the
// NVLink dimension.
struct LevelWord {
  std::optional<size_t> index;  // none: NVLink
};

// One TopologyRequest, of the gang or of a sub-group.
class Resolver final {
 public:
  Resolver(const Snapshot& snapshot, const TopologyRequest& request, std::string field,
           LevelStore& store)
      : snapshot_(snapshot), request_(request), field_(std::move(field)), store_(store) {}

  absl::StatusOr<DomainWish> Wish() {
    RETURN_IF_ERROR(FindTopology());
    DomainWish wish;
    std::optional<LevelWord> required, preferred;
    if (!request_.required.empty()) {
      ASSIGN_OR_RETURN(required, Find(request_.required, "required"));
    }
    if (!request_.preferred.empty()) {
      ASSIGN_OR_RETURN(preferred, Find(request_.preferred, "preferred"));
    }
    if (request_.slice_size > 0) {
      ASSIGN_OR_RETURN(const LevelWord slice, Find(request_.slice_level, "slice.level"));
      if (required.has_value() && required->index.has_value() && slice.index.has_value() &&
          *slice.index < *required->index) {
        return absl::InvalidArgumentError(
            absl::StrCat(field_, ".slice.level: \"", request_.slice_level,
                         "\" is broader than the required level \"", request_.required, "\""));
      }
      wish.slice_size = request_.slice_size;
      wish.slice = store_.Level(snapshot_, KeyOf(slice));
    }
    wish.required = required.has_value();
    for (const LevelKey& key : Chain(required, preferred)) {
      wish.levels.push_back(store_.Level(snapshot_, key));
    }
    return wish;
  }

  // Paths of the whole Topology, then of NVLink where it is asked for.
  [[nodiscard]] LevelKey LayoutKey() const {
    LevelKey key{.name = "layout", .steps = {}};
    if (topology_ != nullptr && !topology_->levels.empty()) {
      key = KeyOf({.index = topology_->levels.size() - 1});
    }
    if (uses_nvlink_) key.steps.push_back(snapshot_.tables->nvlink_labels);
    key.name = "layout";
    return key;
  }

 private:
  absl::Status FindTopology() {
    topology_ = maniple::FindTopology(*snapshot_.tables, request_.topology_name);
    if (topology_ == nullptr && !request_.topology_name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          field_, ".topologyName: there is no Topology \"", request_.topology_name, "\""));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<LevelWord> Find(absl::string_view wanted, absl::string_view part) {
    if (topology_ != nullptr) {
      const std::optional<size_t> index = LevelIndex(*topology_, wanted);
      if (index.has_value()) return LevelWord{.index = index};
    }
    const std::vector<std::string>& nvlink = snapshot_.tables->nvlink_labels;
    if (!nvlink.empty() &&
        (wanted == kNvlink || std::ranges::find(nvlink, wanted) != nvlink.end())) {
      uses_nvlink_ = true;
      return LevelWord{};
    }
    if (topology_ == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(field_, ".", part, ": the level \"", wanted,
                       "\" is unknown: no Topology is the only one or named \"default\""));
    }
    return absl::InvalidArgumentError(absl::StrCat(field_, ".", part, ": Topology \"",
                                                   topology_->meta.name, "\" has no level \"",
                                                   wanted, "\""));
  }

  [[nodiscard]] LevelKey KeyOf(const LevelWord& word) const {
    LevelKey key;
    if (!word.index.has_value()) {
      return {.name = std::string(kNvlink), .steps = {snapshot_.tables->nvlink_labels}};
    }
    key.name = topology_->levels[*word.index].name;
    for (size_t i = 0; i <= *word.index; ++i) {
      key.steps.push_back({topology_->levels[i].node_label});
    }
    return key;
  }

  // From the required level, or the broadest, down to the preferred one.
  [[nodiscard]] std::vector<LevelKey> Chain(const std::optional<LevelWord>& required,
                                            const std::optional<LevelWord>& preferred) const {
    std::vector<LevelKey> chain;
    if (required.has_value()) chain.push_back(KeyOf(*required));
    if (!preferred.has_value()) return chain;
    const bool same_dimension =
        required.has_value() && required->index.has_value() == preferred->index.has_value();
    if (!preferred->index.has_value()) {
      if (!same_dimension) Refine(chain, KeyOf(*preferred), required.has_value());
      return chain;
    }
    const size_t first = same_dimension ? *required->index + 1 : 0;
    for (size_t i = first; i <= *preferred->index; ++i) {
      Refine(chain, KeyOf({.index = i}), required.has_value() && !same_dimension);
    }
    return chain;
  }

  // Adds a level; `crossing`: it crosses the required one, whose dimension is another.
  static void Refine(std::vector<LevelKey>& chain, LevelKey key, bool crossing) {
    if (crossing) {
      key.steps.insert(key.steps.begin(), chain.front().steps.begin(), chain.front().steps.end());
    }
    chain.push_back(std::move(key));
  }

  const Snapshot& snapshot_;
  const TopologyRequest& request_;
  std::string field_;
  LevelStore& store_;
  const Topology* topology_ = nullptr;
  bool uses_nvlink_ = false;
};

bool Binds(const DomainWish& wish) { return wish.required || wish.slice != nullptr; }

void DropPreference(DomainWish& wish) { wish.levels.resize(wish.required ? 1 : 0); }

}  // namespace

const Topology* FindTopology(const Tables& tables, absl::string_view name) {
  const std::vector<Topology>& all = tables.topologies;
  if (name.empty() && all.size() == 1) return &all.front();
  const auto at = std::ranges::find_if(all, [&](const Topology& topology) {
    return topology.meta.name == (name.empty() ? "default" : name);
  });
  return at == all.end() ? nullptr : &*at;
}

std::optional<size_t> LevelIndex(const Topology& topology, absl::string_view word) {
  const std::vector<TopologyLevel>& levels = topology.levels;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].name == word || levels[i].node_label == word) return i;
  }
  size_t tier = 0;
  if (!absl::ConsumePrefix(&word, kTierWord) || !absl::SimpleAtoi(word, &tier)) return std::nullopt;
  size_t tiers = levels.size();
  if (tiers > 0 && levels.back().node_label == kHostLabel) --tiers;
  if (tier == 0 || tier > tiers) return std::nullopt;
  return tiers - tier;
}

bool DomainChoice::binding() const { return Binds(gang) || std::ranges::any_of(sub_groups, Binds); }

DomainChoice DomainChoice::OnlyBinding() const {
  DomainChoice choice = *this;
  DropPreference(choice.gang);
  for (DomainWish& wish : choice.sub_groups) DropPreference(wish);
  return choice;
}

absl::StatusOr<DomainChoice> ResolveTopology(const Snapshot& snapshot, const GangRequest& gang,
                                             LevelStore& store) {
  DomainChoice choice;
  std::optional<LevelKey> layout;
  if (gang.topology != TopologyRequest{}) {
    Resolver resolver(snapshot, gang.topology, "spec.topology", store);
    ASSIGN_OR_RETURN(choice.gang, resolver.Wish());
    layout = resolver.LayoutKey();
  }
  for (size_t i = 0; i < gang.sub_group_topologies.size(); ++i) {
    if (gang.sub_group_topologies[i] == TopologyRequest{}) continue;
    Resolver resolver(snapshot, gang.sub_group_topologies[i],
                      absl::StrCat("spec.subGroups[", i, "].topology"), store);
    choice.sub_groups.resize(gang.sub_group_topologies.size());
    ASSIGN_OR_RETURN(choice.sub_groups[i], resolver.Wish());
    if (!layout.has_value()) layout = resolver.LayoutKey();
  }
  if (layout.has_value() && !layout->steps.empty()) {
    choice.layout = store.Layout(snapshot, *layout);
  }
  return choice;
}

std::optional<uint32_t> DomainOfPinned(const Snapshot& snapshot, const DomainLevel& level,
                                       std::span<const Pinned> pinned) {
  std::optional<uint32_t> common;
  for (const Pinned& member : pinned) {
    if (!snapshot.HasNode(member.node)) continue;
    const uint32_t domain = level.DomainOf(member.node);
    if (common.has_value() && *common != domain) return DomainLevel::kOutside;
    common = domain;
  }
  return common;
}

}  // namespace maniple
