// PodGang of scheduler.grove.io/v1alpha1, the group object of Grove.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// It lists the pods of each part by name.
[[nodiscard]] ForeignSpec ReadGroveGroup(const Cursor& root);

}  // namespace maniple
