// Packing: the fuller the node would be, the better; GPUs count most when the pod asks for them.
//
// So small requests fill nodes that are broken already, and whole nodes stay whole for pods that
// need them.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakePacking();

}  // namespace maniple
