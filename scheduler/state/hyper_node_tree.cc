#include "scheduler/state/hyper_node_tree.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

std::vector<HyperNodeMember> MembersOfType(const HyperNode& object, HyperNodeMember::Type type) {
  std::vector<HyperNodeMember> members;
  for (const HyperNodeMember& member : object.members) {
    if (member.type == type) members.push_back(member);
  }
  return members;
}

std::string LabelOf(int32_t tier) { return absl::StrCat(kTierLabelDomain, kTierWord, tier); }

// No HyperNode has labels that could be selected.
StringMap NoLabels(absl::string_view) { return StringMap(); }

}  // namespace

absl::string_view HyperNodeTree::NameAmong(const NameCounts& names) {
  const auto said = names.upper_bound("");
  return said != names.end() ? absl::string_view(said->first) : "";
}

bool HyperNodeTree::CountTier(const HyperNode& object, int by) {
  NameCounts& names = tiers_[object.tier];
  const bool was_there = !names.empty();
  const std::string was_called(NameAmong(names));
  const auto at = names.try_emplace(object.tier_name, 0).first;
  at->second += by;
  if (at->second == 0) names.erase(at);
  const bool changed = was_there == names.empty() || NameAmong(names) != was_called;
  if (names.empty()) tiers_.erase(object.tier);
  return changed;
}

HyperNodeTree::Change HyperNodeTree::Upsert(absl::string_view name, absl::string_view uid,
                                            std::shared_ptr<const HyperNode> object,
                                            MemberIndex::LabelSource labels_of) {
  Known& known = known_[name];
  known.uid = std::string(uid);
  if (known.object != nullptr && *known.object == *object) return {};
  const std::shared_ptr<const HyperNode> was = std::exchange(known.object, object);
  Change change;
  change.levels = CountTier(*object, 1);
  if (was != nullptr) change.levels |= CountTier(*was, -1);
  const std::vector<std::string> nodes =
      nodes_.Select(name, MembersOfType(*object, HyperNodeMember::Type::kNode), labels_of);
  const std::vector<std::string> below =
      below_.Select(name, MembersOfType(*object, HyperNodeMember::Type::kHyperNode), NoLabels);
  if (was == nullptr) below_.Put(name, {});
  MemberIndex::Names changed(nodes.begin(), nodes.end());
  for (const std::string& child : below) AddNodesUnder(child, changed);
  if (was == nullptr || was->tier != object->tier) AddNodesUnder(name, changed);
  change.nodes.assign(changed.begin(), changed.end());
  return change;
}

HyperNodeTree::Change HyperNodeTree::Remove(absl::string_view name, absl::string_view uid) {
  const auto known = known_.find(name);
  if (known == known_.end() || (!uid.empty() && uid != known->second.uid)) return {};
  Change change;
  change.levels = CountTier(*known->second.object, -1);
  MemberIndex::Names nodes;
  AddNodesUnder(name, nodes);
  change.nodes.assign(nodes.begin(), nodes.end());
  nodes_.Select(name, {}, NoLabels);
  below_.Select(name, {}, NoLabels);
  below_.Remove(name);
  known_.erase(known);
  return change;
}

void HyperNodeTree::PutNode(absl::string_view name, const StringMap& labels) {
  nodes_.Put(name, labels);
}
void HyperNodeTree::RemoveNode(absl::string_view name) { nodes_.Remove(name); }

void HyperNodeTree::AddNodesUnder(absl::string_view name, MemberIndex::Names& nodes) const {
  absl::flat_hash_set<absl::string_view> seen = {name};
  std::vector<absl::string_view> open = {name};
  while (!open.empty()) {
    const absl::string_view at = open.back();
    open.pop_back();
    const MemberIndex::Names& direct = nodes_.MembersOf(at);
    nodes.insert(direct.begin(), direct.end());
    for (const std::string& child : below_.MembersOf(at)) {
      if (seen.insert(child).second) open.push_back(child);
    }
  }
}

StringMap HyperNodeTree::LabelsOf(absl::string_view node) const {
  StringMap labels;
  absl::btree_map<int32_t, absl::string_view> first;  // by tier
  absl::flat_hash_set<absl::string_view> seen;
  std::vector<absl::string_view> open;
  const auto open_all = [&](const MemberIndex::Names& owners) {
    for (const std::string& owner : owners) {
      if (seen.insert(owner).second) open.push_back(owner);
    }
  };
  open_all(nodes_.OwnersOf(node));
  while (!open.empty()) {
    const absl::string_view at = open.back();
    open.pop_back();
    const auto [of_tier, is_new] = first.try_emplace(known_.at(at).object->tier, at);
    if (!is_new && at < of_tier->second) of_tier->second = at;
    open_all(below_.OwnersOf(at));
  }
  for (const auto& [tier, name] : first) labels.Set(LabelOf(tier), name);
  return labels;
}

std::vector<TopologyLevel> HyperNodeTree::Levels() const {
  std::vector<TopologyLevel> levels;
  for (auto tier = tiers_.rbegin(); tier != tiers_.rend(); ++tier) {
    const absl::string_view called = NameAmong(tier->second);
    levels.push_back(
        {.name = called.empty() ? absl::StrCat(kTierWord, tier->first) : std::string(called),
         .node_label = LabelOf(tier->first)});
  }
  return levels;
}

}  // namespace maniple
