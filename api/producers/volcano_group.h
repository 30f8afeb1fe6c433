// PodGroup of scheduling.volcano.sh/v1beta1.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

[[nodiscard]] ForeignSpec ReadVolcanoGroup(const Cursor& root);

}  // namespace maniple
