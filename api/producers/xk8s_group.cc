// PodGroup of scheduling.x-k8s.io/v1alpha1, and Koordinator's of scheduling.sigs.k8s.io/v1alpha1,
// which has the same fields.
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {

ForeignSpec ReadXk8sGroup(const Cursor& root) {
  ForeignSpec spec;
  spec.minimum = 1;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) ReadGroupField(field, spec);
  });
  return spec;
}

}  // namespace maniple
