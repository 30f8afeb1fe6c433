// JobSet of jobset.x-k8s.io/v1alpha2.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// A part per replicated Job. In stages if they start in order or depend on each other.
[[nodiscard]] ForeignSpec ReadJobSet(const Cursor& root);

}  // namespace maniple
