// ImageLocality: nodes that have the pod's images already, the larger and the more common the
// better.
//
// Formula: kube-scheduler's plugin of that name. An image counts by its size times the share of
// nodes that have it, lest the first node to pull it draws all pods; the sum is worth nothing up to
// 23 MiB and everything from 1000 MiB for each container.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeImageLocality();

}  // namespace maniple
