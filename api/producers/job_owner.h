// Job of batch/v1 and StatefulSet of apps/v1: gangs of equal members.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// A gang of its parallelism if it is Indexed and runs all its completions at once.
[[nodiscard]] ForeignSpec ReadJob(const Cursor& root);
// None unless an annotation asks for it, and then only if its pods are made all at once.
[[nodiscard]] ForeignSpec ReadStatefulSet(const Cursor& root);

}  // namespace maniple
