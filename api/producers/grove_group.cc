// PodGang of scheduler.grove.io/v1alpha1, the group object of Grove.
#include <algorithm>
#include <string>
#include <vector>

#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

TopologyRequest ReadGroveTopology(const Cursor& constraint) {
  TopologyRequest topology;
  ForMember(constraint, "packConstraint", [&](const Cursor& pack) {
    for (const Cursor& field : pack.Members()) {
      if (field.key() == "required") topology.required = field.Text();
      if (field.key() == "preferred") topology.preferred = field.Text();
    }
  });
  return topology;
}

ForeignPart ReadPart(const Cursor& item, ForeignSpec& spec) {
  ForeignPart part;
  for (const Cursor& field : item.Members()) {
    if (field.key() == "name") part.name = field.Text();
    if (field.key() == "minReplicas") part.members = ReadCount(field, spec);
    if (field.key() == "topologyConstraint") part.topology = ReadGroveTopology(field);
    if (field.key() != "podReferences") continue;
    for (const Cursor& reference : field.Items()) {
      ForMember(reference, "name", [&](const Cursor& name) { part.pods.push_back(name.Text()); });
    }
  }
  return part;
}

struct PlacedGroups {
  std::vector<std::string> names;
  TopologyRequest topology;
  std::string path;
};

PlacedGroups ReadPlacedGroups(const Cursor& item) {
  PlacedGroups groups{.path = item.Path()};
  for (const Cursor& field : item.Members()) {
    if (field.key() == "topologyConstraint") groups.topology = ReadGroveTopology(field);
    if (field.key() != "podGroupNames") continue;
    for (const Cursor& name : field.Items()) groups.names.push_back(name.Text());
  }
  return groups;
}

void Place(const PlacedGroups& groups, ForeignSpec& spec) {
  std::vector<size_t> parts;
  for (size_t i = 0; i < spec.parts.size(); ++i) {
    if (std::ranges::find(groups.names, spec.parts[i].name) != groups.names.end()) {
      parts.push_back(i);
    }
  }
  if (!parts.empty()) PlaceTogether(parts, groups.topology, groups.path, spec);
}

}  // namespace

ForeignSpec ReadGroveGroup(const Cursor& root) {
  ForeignSpec spec;
  std::vector<PlacedGroups> placed;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "priorityClassName") spec.priority_class_name = field.Text();
      if (field.key() == "topologyConstraint") spec.topology = ReadGroveTopology(field);
      if (field.key() == "topologyConstraintGroupConfigs") {
        for (const Cursor& item : field.Items()) placed.push_back(ReadPlacedGroups(item));
      }
      if (field.key() != "podgroups") continue;
      for (const Cursor& item : field.Items()) spec.parts.push_back(ReadPart(item, spec));
    }
  });
  ForMember(root, "metadata", [&](const Cursor& meta) {
    ForMember(meta, "annotations", [&](const Cursor& annotations) {
      ForMember(annotations, "grove.io/topology-name",
                [&](const Cursor& name) { spec.topology.topology_name = name.Text(); });
    });
  });
  for (const PlacedGroups& groups : placed) Place(groups, spec);
  (void)CheckedCount(MembersOf(spec), "spec.podgroups: the sum of all replicas", spec);
  return spec;
}

}  // namespace maniple
