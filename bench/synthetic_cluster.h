// Synthetic clusters for benchmarks: many nodes in racks, pods that fill them to a given degree,
// gangs that wait.
#pragma once

#include <cstdint>
#include <vector>

#include "api/model/object.h"

namespace maniple {

// "node-00000" …: 8 GPUs, 96 cores, 1 TiB; a rack label for every 16 and a hostname each.
[[nodiscard]] std::vector<ObjectEvent> SyntheticNodes(int count);
// A gang of `pods` pods with `gpus` each, as PodGroup and pods; unbound.
[[nodiscard]] std::vector<ObjectEvent> SyntheticGang(int number, int pods, int64_t gpus);
// `count` bound pods of gangs of 8, one GPU each, ten to a node round robin.
[[nodiscard]] std::vector<ObjectEvent> SyntheticLoad(int count, int nodes);

}  // namespace maniple
