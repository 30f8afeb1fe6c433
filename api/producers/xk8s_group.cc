#include "api/producers/xk8s_group.h"

#include "api/producers/fields.h"

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
