// GpuAvoidance: pods that ask for no GPU stay off nodes that have some, while they can.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeGpuAvoidance();

}  // namespace maniple
