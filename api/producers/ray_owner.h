// RayCluster of ray.io/v1.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// Its head and those workers that are made without anybody asking for them.
[[nodiscard]] ForeignSpec ReadRayCluster(const Cursor& root);

}  // namespace maniple
