// TaintPreference: the fewer untolerated PreferNoSchedule taints, the better.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeTaintPreference();

}  // namespace maniple
