// How much room is left in one piece: the GPUs that one gang could have in a single domain of a
// level, and how many slices of idle nodes single domains still have. Free room that is scattered
// over domains starts no large gang.
//
//   for (const LevelKey& key : LevelsToTell(*snapshot.tables)) RoomOf(snapshot, key, store);
//
// Functions of data. Whole GPUs of every vendor count; slices of GPUs and nodes that take no new
// pods do not. What is held for a gang is not free.
#pragma once

#include <vector>

#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/topology/domain_level.h"
#include "scheduler/report/figures.h"

namespace maniple {

// "cluster", then the levels of the Topology that gangs use who name none, "nvlink" where nodes say
// to which NVLink domain they belong, and "node".
[[nodiscard]] std::vector<LevelKey> LevelsToTell(const Tables& tables);

// One of these. Costs a few numbers of each node.
[[nodiscard]] LevelRoomView RoomOf(const Snapshot& snapshot, const LevelKey& level,
                                   LevelStore& store);

}  // namespace maniple
