#include "scheduler/cycle/topology/topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"
#include "api/model/hyper_node.h"
#include "plugins/framework/place_label.h"

namespace maniple {
namespace {

constexpr absl::string_view kNvlink = "nvlink";

// A word of the request where a level may stand: a level of a Topology, or the NVLink dimension.
struct LevelWord {
  std::optional<LevelPlace> place;  // none: NVLink

  [[nodiscard]] const Topology* dimension() const {
    return place.has_value() ? place->topology : nullptr;
  }
};

// The labels of one step of a path. A HyperNode may skip tiers: a node that is in none of this tier
// stands in the step with its next lower one, whose nodes are at least as close.
std::vector<std::string> LabelsOfStep(const Topology& topology, size_t step) {
  std::vector<std::string> labels = {PlaceLabel(topology.levels[step].node_label)};
  if (!topology.meta.name.empty()) return labels;
  for (size_t i = step + 1; i < topology.levels.size(); ++i) {
    labels.push_back(PlaceLabel(topology.levels[i].node_label));
  }
  return labels;
}

// The number of a tier's word.
std::optional<size_t> TierOf(absl::string_view word) {
  size_t tier = 0;
  if (!absl::ConsumePrefix(&word, kTierWord) || !absl::SimpleAtoi(word, &tier)) return std::nullopt;
  return tier;
}

std::optional<size_t> NamedLevel(const Topology& topology, absl::string_view word) {
  const std::vector<TopologyLevel>& levels = topology.levels;
  const std::string tier_label = absl::StrCat(kTierLabelDomain, word);
  auto at = std::ranges::find(levels, tier_label, &TopologyLevel::node_label);
  if (at == levels.end()) {
    at = std::ranges::find_if(levels, [word](const TopologyLevel& level) {
      return level.name == word || level.node_label == word;
    });
  }
  if (at == levels.end()) return std::nullopt;
  return static_cast<size_t>(at - levels.begin());
}

// The widest HyperNodes of this tier or a lower one. REQUIRES: some are there.
std::optional<LevelPlace> WidestUpTo(size_t tier, const Topology& tiers) {
  for (size_t i = 0; i < tiers.levels.size(); ++i) {
    absl::string_view label = tiers.levels[i].node_label;
    absl::ConsumePrefix(&label, kTierLabelDomain);
    const size_t known = TierOf(label).value_or(0);
    if (known <= tier) return LevelPlace{&tiers, i, i == 0 && known < tier};
  }
  return std::nullopt;
}

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
    // Any nodes will do; the closer the better.
    if (required.has_value() && required->place.has_value() && required->place->beyond) {
      if (!preferred.has_value()) preferred = required;
      required.reset();
    }
    if (request_.slice_size > 0) RETURN_IF_ERROR(AddSlices(required, wish));
    wish.required = required.has_value();
    for (const LevelKey& key : Chain(required, preferred)) {
      wish.levels.push_back(store_.Level(snapshot_, key));
    }
    return wish;
  }

  // Paths of the whole Topology, then of NVLink where it is asked for.
  [[nodiscard]] LevelKey LayoutKey() const {
    LevelKey key{.name = "layout", .steps = {}};
    const Topology* topology = used_ != nullptr ? used_ : topology_;
    if (topology != nullptr && !topology->levels.empty()) {
      key = PathTo(LevelPlace{topology, topology->levels.size() - 1});
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

  absl::Status AddSlices(const std::optional<LevelWord>& required, DomainWish& wish) {
    ASSIGN_OR_RETURN(const LevelWord slice, Find(request_.slice_level, "slice.level"));
    if (slice.place.has_value() && slice.place->beyond) return absl::OkStatus();
    if (required.has_value() && slice.place.has_value() &&
        slice.dimension() == required->dimension() && slice.place->index < required->place->index) {
      return absl::InvalidArgumentError(
          absl::StrCat(field_, ".slice.level: \"", request_.slice_level,
                       "\" is broader than the required level \"", request_.required, "\""));
    }
    wish.slice_size = request_.slice_size;
    wish.slice = store_.Level(snapshot_, KeyOf(slice));
    return absl::OkStatus();
  }

  absl::StatusOr<LevelWord> Find(absl::string_view wanted, absl::string_view part) {
    const std::optional<LevelPlace> place =
        FindLevel(*snapshot_.tables, request_.topology_name, wanted);
    if (place.has_value()) {
      if (used_ == nullptr) used_ = place->topology;
      return LevelWord{.place = place};
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
                       snapshot_.tables->topologies.empty()
                           ? "\" is unknown: there is no Topology"
                           : "\" is unknown: of several Topologies none is named \"default\"; set "
                             "topologyName"));
    }
    if (topology_->meta.name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(field_, ".", part, ": the level \"", wanted,
                                                     "\" is unknown: no HyperNode has this tier"));
    }
    return absl::InvalidArgumentError(absl::StrCat(field_, ".", part, ": Topology \"",
                                                   topology_->meta.name, "\" has no level \"",
                                                   wanted, "\""));
  }

  [[nodiscard]] LevelKey KeyOf(const LevelWord& word) const {
    if (word.place.has_value()) return PathTo(*word.place);
    return {.name = std::string(kNvlink), .steps = {snapshot_.tables->nvlink_labels}};
  }

  // From the required level, or the broadest, down to the preferred one.
  [[nodiscard]] std::vector<LevelKey> Chain(const std::optional<LevelWord>& required,
                                            const std::optional<LevelWord>& preferred) const {
    std::vector<LevelKey> chain;
    if (required.has_value()) chain.push_back(KeyOf(*required));
    if (!preferred.has_value()) return chain;
    const bool same_dimension =
        required.has_value() && required->dimension() == preferred->dimension();
    if (!preferred->place.has_value()) {
      if (!same_dimension) Refine(chain, KeyOf(*preferred), required.has_value());
      return chain;
    }
    const size_t first = same_dimension ? required->place->index + 1 : 0;
    for (size_t i = first; i <= preferred->place->index; ++i) {
      Refine(chain, PathTo(LevelPlace{preferred->place->topology, i}),
             required.has_value() && !same_dimension);
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
  const Topology* used_ = nullptr;  // the one whose levels are asked for; null: none
  bool uses_nvlink_ = false;
};

// Of HyperNodes; null: there are none. It is the first, as it has no name.
const Topology* TiersOf(const Tables& tables) {
  const std::vector<Topology>& all = tables.topologies;
  return !all.empty() && all.front().meta.name.empty() ? &all.front() : nullptr;
}

bool Binds(const DomainWish& wish) { return wish.required || wish.slice != nullptr; }

void DropPreference(DomainWish& wish) { wish.levels.resize(wish.required ? 1 : 0); }

}  // namespace

const Topology* FindTopology(const Tables& tables, absl::string_view name) {
  const std::vector<Topology>& all = tables.topologies;
  const size_t named = all.size() - (TiersOf(tables) != nullptr ? 1 : 0);
  if (name.empty() && named <= 1) return all.empty() ? nullptr : &all.back();
  const auto at = std::ranges::find_if(all, [&](const Topology& topology) {
    return topology.meta.name == (name.empty() ? "default" : name);
  });
  return at == all.end() ? nullptr : &*at;
}

std::optional<size_t> LevelIndex(const Topology& topology, absl::string_view word) {
  const std::vector<TopologyLevel>& levels = topology.levels;
  if (const std::optional<size_t> named = NamedLevel(topology, word)) return named;
  const size_t tier = TierOf(word).value_or(0);
  size_t tiers = levels.size();
  if (tiers > 0 && levels.back().node_label == kHostnameLabel) --tiers;
  if (tier == 0 || tier > tiers) return std::nullopt;
  return tiers - tier;
}

std::optional<LevelPlace> FindLevel(const Tables& tables, absl::string_view topology_name,
                                    absl::string_view word) {
  const Topology* topology = FindTopology(tables, topology_name);
  const Topology* tiers = topology_name.empty() ? TiersOf(tables) : nullptr;
  const auto place_in = [](const Topology& in, std::optional<size_t> index) {
    return index.has_value() ? std::optional(LevelPlace{&in, *index}) : std::nullopt;
  };
  for (const Topology* in : {topology, tiers}) {
    if (in == nullptr) continue;
    if (const auto place = place_in(*in, NamedLevel(*in, word))) return place;
  }
  if (topology != nullptr && topology != tiers) {
    if (const auto place = place_in(*topology, LevelIndex(*topology, word))) return place;
  }
  const size_t tier = TierOf(word).value_or(0);
  return tiers != nullptr && tier > 0 ? WidestUpTo(tier, *tiers) : std::nullopt;
}

bool DomainChoice::wishes() const {
  const auto wishes = [](const DomainWish& wish) {
    return !wish.levels.empty() || wish.slice != nullptr;
  };
  return wishes(gang) || std::ranges::any_of(sub_groups, wishes);
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

LevelKey PathTo(const LevelPlace& place) {
  LevelKey key{.name = place.topology->levels[place.index].name, .steps = {}};
  for (size_t i = 0; i <= place.index; ++i) {
    key.steps.push_back(LabelsOfStep(*place.topology, i));
  }
  return key;
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

NodeSet NodesBesidePinned(const Snapshot& snapshot, const DomainLevel& level,
                          std::span<const Pinned> pinned) {
  std::set<uint32_t> used;
  for (const Pinned& member : pinned) {
    if (snapshot.HasNode(member.node)) used.insert(level.DomainOf(member.node));
  }
  used.erase(DomainLevel::kOutside);
  NodeSet nodes(snapshot.blocks.size());
  for (uint32_t i = 0; !used.empty() && i < level.domain_of.size(); ++i) {
    if (used.contains(level.domain_of[i])) nodes[BlockOf(NodeId(i))].Set(RowOf(NodeId(i)));
  }
  return nodes;
}

}  // namespace maniple
