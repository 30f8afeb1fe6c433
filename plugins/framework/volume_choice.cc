#include "plugins/framework/volume_choice.h"

#include "api/base/sort_unique.h"

#include <algorithm>

namespace maniple {
namespace {

// The only term may require values of a label that is a column.
// Then the nodes with these values are all that can match.
struct Pin {
  size_t column;
  const SelectorRequirement* requirement;
};
std::optional<Pin> PinOf(const Tables& tables, const NodeTerms& terms) {
  if (terms.size() != 1) return std::nullopt;
  for (const SelectorRequirement& requirement : terms.front().expressions) {
    if (requirement.op != SelectorOperator::kIn) continue;
    const auto at =
        std::find(tables.label_columns.begin(), tables.label_columns.end(), requirement.key);
    if (at == tables.label_columns.end()) continue;
    return Pin{.column = static_cast<size_t>(at - tables.label_columns.begin()),
               .requirement = &requirement};
  }
  return std::nullopt;
}

}  // namespace

BoundTerms::BoundTerms(const Tables& tables, const NodeTerms& terms) {
  terms_.reserve(terms.size());
  for (const NodeSelectorTerm& term : terms) terms_.emplace_back(tables, term);
}

bool BoundTerms::Matches(const NodeView& node) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&node](const BoundTerm& term) { return term.Matches(node); });
}

bool BoundTerms::of_class_only() const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [](const BoundTerm& term) { return term.of_class_only(); });
}

VolumeChoice::VolumeChoice(const Snapshot& snapshot, const std::vector<UnboundClaim>& claims)
    : snapshot_(snapshot) {
  const std::vector<FreeVolume>& free = *snapshot.tables->free_volumes;
  for (VolumeIndex i = 0; i < free.size(); ++i) {
    const bool asked = std::any_of(claims.begin(), claims.end(), [&](const UnboundClaim& claim) {
      return !claim.provision_only && claim.storage_class == free[i].storage_class;
    });
    if (asked) Reach(i);
  }
}

void VolumeChoice::Reach(VolumeIndex volume) {
  const std::optional<NodeTerms>& where = At(volume).where;
  const Tables& tables = *snapshot_.tables;
  const auto add = [&](NodeId node) { on_node_[snapshot_.NodeName(node)].push_back(volume); };
  if (!where.has_value()) {
    for (const NodeId node : snapshot_.order->by_name) add(node);
    return;
  }
  const BoundTerms terms(tables, *where);
  const auto add_if_reached = [&](NodeId node) {
    const NodeView view{.block = *snapshot_.blocks[BlockOf(node)], .row = RowOf(node)};
    if (terms.Matches(view)) add(node);
  };
  const std::optional<Pin> pin = PinOf(tables, *where);
  if (!pin.has_value()) {
    for (const NodeId node : snapshot_.order->by_name) add_if_reached(node);
    return;
  }
  const auto [it, is_new] = by_value_.try_emplace(pin->column);
  if (is_new) {
    for (const NodeId node : snapshot_.order->by_name) {
      const NodeRows& rows = snapshot_.blocks[BlockOf(node)]->rows();
      const LabelValueId value = rows.label_columns[pin->column].values[RowOf(node)];
      if (value.valid()) it->second[tables.label_values[value.index()]].push_back(node);
    }
  }
  std::vector<absl::string_view> values(pin->requirement->values.begin(),
                                        pin->requirement->values.end());
  SortUnique(values);  // a list may name one twice
  for (const absl::string_view value : values) {
    const auto nodes = it->second.find(value);
    if (nodes == it->second.end()) continue;
    for (const NodeId node : nodes->second) add_if_reached(node);
  }
}

std::span<const VolumeChoice::VolumeIndex> VolumeChoice::On(absl::string_view node) const {
  const auto it = on_node_.find(node);
  return it == on_node_.end() ? std::span<const VolumeIndex>() : it->second;
}

void VolumeChoice::Take(VolumeSet& taken, VolumeIndex volume) {
  taken.insert(std::lower_bound(taken.begin(), taken.end(), volume), volume);
}

std::optional<VolumeChoice::VolumeIndex> VolumeChoice::Choose(const UnboundClaim& claim,
                                                              absl::string_view node,
                                                              const VolumeSet& taken) const {
  for (const VolumeIndex volume : On(node)) {
    if (!Serves(At(volume), claim)) continue;
    if (!std::binary_search(taken.begin(), taken.end(), volume)) return volume;
  }
  return std::nullopt;
}

VolumeChoice::VolumeSet VolumeChoice::TakenBy(std::span<const PlacedMember> placed) const {
  VolumeSet taken;
  for (const PlacedMember& member : placed) {
    const VolumeNeeds* needs = snapshot_.tables->ShapeOf(member.shape).constraints.volumes.get();
    if (needs == nullptr) continue;
    const std::string& node = snapshot_.NodeName(member.node);
    for (const UnboundClaim& claim : needs->unbound) {
      if (claim.provision_only || claim.reserved_where.has_value()) continue;
      if (const std::optional<VolumeIndex> volume = Choose(claim, node, taken)) {
        Take(taken, *volume);
      }
    }
  }
  return taken;
}

}  // namespace maniple
