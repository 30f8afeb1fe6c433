// PodGroup of scheduling.x-k8s.io/v1alpha1, and Koordinator's of scheduling.sigs.k8s.io/v1alpha1,
// which has the same fields.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

[[nodiscard]] ForeignSpec ReadXk8sGroup(const Cursor& root);

}  // namespace maniple
