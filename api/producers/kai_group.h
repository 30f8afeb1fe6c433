// PodGroup of scheduling.run.ai/v2alpha2, the group object of KAI.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// Nested sub-groups are read as the flat list of those that have members.
[[nodiscard]] ForeignSpec ReadKaiGroup(const Cursor& root);

}  // namespace maniple
