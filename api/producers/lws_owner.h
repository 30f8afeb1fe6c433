// LeaderWorkerSet of leaderworkerset.x-k8s.io/v1.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// Of one replica: each is a gang of its own.
[[nodiscard]] ForeignSpec ReadLeaderWorkerSet(const Cursor& root);

}  // namespace maniple
