#include "api/producers/upstream_group.h"

#include "api/producers/fields.h"

namespace maniple {
namespace {

void ReadPolicy(const Cursor& policy, ForeignSpec& spec) {
  ForMember(policy, "gang", [&](const Cursor& gang) {
    spec.is_gang = true;
    spec.minimum = 1;
    ForMember(gang, "minCount",
              [&](const Cursor& count) { spec.minimum = ReadCount(count, spec); });
  });
}

void ReadConstraints(const Cursor& constraints, ForeignSpec& spec) {
  ForMember(constraints, "topology", [&](const Cursor& list) {
    for (const Cursor& item : list.Items()) {
      ForMember(item, "key", [&](const Cursor& key) { spec.topology.required = key.Text(); });
    }
  });
}

}  // namespace

ForeignSpec ReadUpstreamGroup(const Cursor& root) {
  ForeignSpec spec;
  spec.is_gang = false;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "schedulingPolicy") ReadPolicy(field, spec);
      if (field.key() == "schedulingConstraints") ReadConstraints(field, spec);
      if (field.key() == "priorityClassName") spec.priority_class_name = field.Text();
      if (field.key() == "preemptionPolicy") spec.preempts = field.View() != "Never";
    }
  });
  return spec;
}

}  // namespace maniple
