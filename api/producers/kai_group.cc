// PodGroup of scheduling.run.ai/v2alpha2, the group object of KAI.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

struct KaiSubGroup {
  ForeignPart part;
  std::string parent;
  std::optional<int64_t> enough;  // of those in it; absent: all
};

TopologyRequest ReadKaiTopology(const Cursor& constraint) {
  TopologyRequest topology;
  for (const Cursor& field : constraint.Members()) {
    if (field.key() == "topology") topology.topology_name = field.Text();
    if (field.key() == "requiredTopologyLevel") topology.required = field.Text();
    if (field.key() == "preferredTopologyLevel") topology.preferred = field.Text();
  }
  return topology;
}

KaiSubGroup ReadSubGroup(const Cursor& item, ForeignSpec& spec) {
  KaiSubGroup group;
  for (const Cursor& field : item.Members()) {
    if (field.key() == "name") group.part.name = field.Text();
    if (field.key() == "minMember") group.part.members = ReadCount(field, spec);
    if (field.key() == "minSubGroup") group.enough = ReadCount(field, spec);
    if (field.key() == "parent") group.parent = field.Text();
    if (field.key() == "topologyConstraint") group.part.topology = ReadKaiTopology(field);
  }
  return group;
}

// Sub-groups and those in them. The first stands for the whole; a ring hangs on nobody.
class SubGroupTree final {
 public:
  SubGroupTree(std::vector<KaiSubGroup> groups, std::optional<int64_t> enough)
      : groups_(std::move(groups)) {
    groups_.insert(groups_.begin(), KaiSubGroup{.enough = enough});
    absl::flat_hash_map<absl::string_view, size_t> by_name;
    for (size_t i = 1; i < groups_.size(); ++i) by_name.emplace(groups_[i].part.name, i);
    below_.resize(groups_.size());
    for (size_t i = 1; i < groups_.size(); ++i) {
      const auto parent = by_name.find(groups_[i].parent);
      below_[parent != by_name.end() ? parent->second : 0].push_back(i);
    }
  }

  // Fills the parts, unless so many of several have to be there, whichever.
  void Count(ForeignSpec& spec) {
    std::vector<size_t> order = {0};
    for (size_t i = 0; i < order.size(); ++i) {
      order.insert(order.end(), below_[order[i]].begin(), below_[order[i]].end());
    }
    // Those within come after those that they are in.
    for (auto group = order.rbegin(); group != order.rend(); ++group) Fold(*group);
    spec.minimum = std::max(*spec.minimum, groups_[0].part.members);
    if (may_miss_some_) return RefusePlaces(spec);
    std::vector<std::vector<size_t>> parts_in(groups_.size());
    for (size_t i = 1; i < groups_.size(); ++i) {
      if (!below_[i].empty()) continue;
      parts_in[i].push_back(spec.parts.size());
      spec.parts.push_back(groups_[i].part);
    }
    for (auto group = order.rbegin(); group != order.rend(); ++group) {
      for (const size_t child : below_[*group]) {
        parts_in[*group].insert(parts_in[*group].end(), parts_in[child].begin(),
                                parts_in[child].end());
      }
      const ForeignPart& part = groups_[*group].part;
      if (*group == 0 || below_[*group].empty()) continue;
      PlaceTogether(parts_in[*group], part.topology, PathOf(part), spec);
    }
  }

 private:
  static std::string PathOf(const ForeignPart& part) {
    return absl::StrCat("spec.subGroups[", part.name, "].topologyConstraint");
  }

  // Which of them are to be in one place is not known where some may be missing.
  void RefusePlaces(ForeignSpec& spec) const {
    for (const KaiSubGroup& group : groups_) {
      if (group.part.topology.required.empty()) continue;
      NoteProblem(spec, absl::StrCat(PathOf(group.part), ": with minSubGroup below the number of ",
                                     "groups, one group cannot be kept within one ",
                                     group.part.topology.required));
    }
  }

  // Of several groups a quorum needs the smallest.
  void Fold(size_t group) {
    if (below_[group].empty()) return;
    std::vector<int64_t> needs;
    for (const size_t child : below_[group]) needs.push_back(groups_[child].part.members);
    const auto all = static_cast<int64_t>(needs.size());
    const int64_t count = std::min(groups_[group].enough.value_or(all), all);
    may_miss_some_ |= count < all;
    std::sort(needs.begin(), needs.end());
    groups_[group].part.members = std::accumulate(needs.begin(), needs.begin() + count, int64_t{0});
  }

  std::vector<KaiSubGroup> groups_;
  std::vector<std::vector<size_t>> below_;  // by place among the groups
  bool may_miss_some_ = false;
};

}  // namespace

ForeignSpec ReadKaiGroup(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 0;
  std::vector<KaiSubGroup> groups;
  std::optional<int64_t> enough;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      ReadGroupField(field, spec);
      if (field.key() == "minSubGroup") enough = ReadCount(field, spec);
      if (field.key() == "topologyConstraint") spec.topology = ReadKaiTopology(field);
      if (field.key() != "subGroups") continue;
      for (const Cursor& item : field.Items()) groups.push_back(ReadSubGroup(item, spec));
    }
  });
  SubGroupTree(std::move(groups), enough).Count(spec);
  spec.minimum = CheckedCount(*spec.minimum, "spec.subGroups: the sum of all members", spec);
  return spec;
}

}  // namespace maniple
