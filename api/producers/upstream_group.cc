// PodGroup of scheduling.k8s.io: v1beta1, v1alpha3 and v1alpha2; CompositePodGroup, a group of
// them.
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

void ReadGangPolicy(const Cursor& policy, absl::string_view count_name, ForeignSpec& spec) {
  ForMember(policy, "gang", [&](const Cursor& gang) {
    spec.is_gang = true;
    ForMember(gang, count_name,
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

// The two kinds differ in what they count.
ForeignSpec ReadGroup(const Cursor& root, absl::string_view count_name) {
  ForeignSpec spec;
  spec.is_gang = false;
  spec.minimum = 1;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "parentCompositePodGroupName") spec.parent_group = field.Text();
      if (field.key() == "schedulingPolicy") ReadGangPolicy(field, count_name, spec);
      if (field.key() == "schedulingConstraints") ReadConstraints(field, spec);
      if (field.key() == "priorityClassName") spec.priority_class_name = field.Text();
      if (field.key() == "preemptionPolicy") spec.preempts = field.View() != "Never";
    }
  });
  return spec;
}

}  // namespace

ForeignSpec ReadUpstreamGroup(const Cursor& root) { return ReadGroup(root, "minCount"); }
ForeignSpec ReadCompositeGroup(const Cursor& root) { return ReadGroup(root, "minGroupCount"); }

}  // namespace maniple
