#include "api/producers/volcano_group.h"

#include <algorithm>

#include "api/producers/fields.h"

namespace maniple {
namespace {

void ReadTasks(const Cursor& tasks, ForeignSpec& spec) {
  for (const Cursor& task : tasks.Members()) {
    spec.parts.push_back(
        {.name = std::string(task.CheckedKey()), .members = ReadCount(task, spec)});
  }
  const auto by_name = [](const ForeignPart& a, const ForeignPart& b) { return a.name < b.name; };
  std::sort(spec.parts.begin(), spec.parts.end(), by_name);
}

// A tier by number says nothing without the tree of HyperNodes; one by name is a level of ours.
void ReadNetworkTopology(const Cursor& topology, ForeignSpec& spec) {
  bool hard = true;
  std::string tier;
  for (const Cursor& field : topology.Members()) {
    if (field.key() == "mode") hard = field.View() != "soft";
    if (field.key() == "highestTierName") tier = field.Text();
  }
  (hard ? spec.topology.required : spec.topology.preferred) = std::move(tier);
}

}  // namespace

ForeignSpec ReadVolcanoGroup(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 0;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      ReadGroupField(field, spec);
      if (field.key() == "minTaskMember") ReadTasks(field, spec);
      if (field.key() == "networkTopology") ReadNetworkTopology(field, spec);
    }
  });
  // As Volcano has it: tasks that ask for more than the whole are not looked at.
  if (MembersOf(spec) > spec.minimum.value_or(0)) spec.parts.clear();
  return spec;
}

}  // namespace maniple
