#include "api/producers/kai_group.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "api/producers/fields.h"

namespace maniple {
namespace {

struct SubGroups {
  std::vector<ForeignPart> parts;
  absl::btree_set<std::string> parents;  // which have sub-groups for members
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

void ReadSubGroup(const Cursor& item, SubGroups& out, ForeignSpec& spec) {
  ForeignPart part;
  for (const Cursor& field : item.Members()) {
    if (field.key() == "name") part.name = field.Text();
    if (field.key() == "minMember") part.members = ReadCount(field, spec);
    if (field.key() == "parent") out.parents.insert(field.Text());
    if (field.key() == "topologyConstraint") part.topology = ReadKaiTopology(field);
  }
  out.parts.push_back(std::move(part));
}

// Of several sub-groups so many have to be there, whichever: a quorum of the smallest.
void ChooseSmallest(int64_t count, ForeignSpec& spec) {
  if (count >= static_cast<int64_t>(spec.parts.size())) return;
  const auto smaller = [](const ForeignPart& a, const ForeignPart& b) {
    return a.members < b.members;
  };
  std::sort(spec.parts.begin(), spec.parts.end(), smaller);
  spec.parts.resize(static_cast<size_t>(count));
  spec.minimum = MembersOf(spec);
  spec.parts.clear();
}

}  // namespace

ForeignSpec ReadKaiGroup(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 0;
  SubGroups sub_groups;
  std::optional<int64_t> enough;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      ReadGroupField(field, spec);
      if (field.key() == "minSubGroup") enough = ReadCount(field, spec);
      if (field.key() == "topologyConstraint") spec.topology = ReadKaiTopology(field);
      if (field.key() != "subGroups") continue;
      for (const Cursor& item : field.Items()) ReadSubGroup(item, sub_groups, spec);
    }
  });
  for (ForeignPart& part : sub_groups.parts) {
    if (!sub_groups.parents.contains(part.name)) spec.parts.push_back(std::move(part));
  }
  const int64_t sum = CheckedCount(MembersOf(spec), "spec.subGroups: the sum of all members", spec);
  spec.minimum = std::max(*spec.minimum, sum);
  if (enough.has_value()) ChooseSmallest(*enough, spec);
  return spec;
}

}  // namespace maniple
