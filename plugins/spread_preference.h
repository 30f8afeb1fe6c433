// SpreadPreference: topology spread that is only preferred (ScheduleAnyway): the fewer matching
// pods in the node's domains, the better.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeSpreadPreference();

}  // namespace maniple
