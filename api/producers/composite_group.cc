#include "api/producers/composite_group.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/producers/fields.h"
#include "api/producers/gang_names.h"
#include "api/producers/kinds.h"

namespace maniple {
namespace {

class GroupTree final {
 public:
  GroupTree(const ObjectSlot& top, const ObjectTable& table) : top_(top), table_(table) {}

  // Hangs it and all above it under the top.
  void Add(const ObjectSlot& group) {
    const ObjectSlot* below = &group;
    while (below != &top_) {
      const std::string& name = below->record->spec->parent_group;
      const ObjectSlot* above = table_.Find(top_.kind, table_.NamespaceOf(top_), name);
      if (above == nullptr || !above->record.has_value()) return;
      std::vector<const ObjectSlot*>& members = members_[above];
      const bool known = std::find(members.begin(), members.end(), below) != members.end();
      if (known) return;
      members.push_back(below);
      below = above;
    }
  }

  ForeignSpec Quorum() {
    AddNeeds(top_, true);
    return std::move(out_);
  }

 private:
  // Not `needed`: whoever is in it may come, and nobody has to.
  void AddNeeds(const ObjectSlot& group, bool needed) {
    const ForeignSpec& spec = *group.record->spec;
    if (!spec.problem.empty()) Note(group, spec.problem);
    if (group.kind != top_.kind) {
      out_.parts.push_back({.name = PartNameOfGroup(group.name),
                            .members = needed ? spec.minimum.value_or(1) : 0,
                            .topology = spec.topology});
      return;
    }
    if (&group != &top_ && spec.topology != TopologyRequest()) {
      Note(group,
           "spec.schedulingConstraints: only the outermost group and PodGroups may have them");
    }
    const auto age = [](const ObjectSlot* of) {
      return std::tuple(of->record->created, of->kind, absl::string_view(of->name));
    };
    std::vector<const ObjectSlot*> members = members_[&group];
    std::sort(members.begin(), members.end(),
              [&age](const ObjectSlot* a, const ObjectSlot* b) { return age(a) < age(b); });
    int64_t missing = needed ? spec.minimum.value_or(1) : 0;
    for (const ObjectSlot* member : members) AddNeeds(*member, missing-- > 0);
    if (missing <= 0) return;
    out_.parts.push_back(
        {.name = PartNameOfGroup(absl::StrCat(group.name, ".missing")), .members = missing});
  }

  void Note(const ObjectSlot& group, absl::string_view problem) {
    // That of the outermost group is known.
    if (&group == &top_) return;
    NoteProblem(out_, absl::StrCat(NameOf(table_.kinds()[group.kind], group.name), ": ", problem));
  }

  const ObjectSlot& top_;
  const ObjectTable& table_;
  std::map<const ObjectSlot*, std::vector<const ObjectSlot*>> members_;  // looked up, never walked
  ForeignSpec out_;
};

}  // namespace

std::string PartNameOfGroup(absl::string_view group) {
  constexpr size_t kMostName = 63;
  return group.size() <= kMostName ? std::string(group) : StableGroupName(group, {});
}

ForeignSpec QuorumOfGroups(const ObjectSlot& composite,
                           const absl::btree_set<absl::string_view>& groups,
                           const ObjectTable& table) {
  GroupTree tree(composite, table);
  const std::optional<uint8_t> kind = table.KindOf(ProducerRole::kUpstream);
  for (const absl::string_view name : groups) {
    const ObjectSlot* group =
        kind.has_value() ? table.Find(*kind, table.NamespaceOf(composite), name) : nullptr;
    if (group != nullptr && group->record.has_value()) tree.Add(*group);
  }
  return tree.Quorum();
}

}  // namespace maniple
