// NodePreference: the sum of the weights of the preferred node affinity terms that match.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeNodePreference();

}  // namespace maniple
