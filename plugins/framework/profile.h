// The filters and scores in force, with the weight of each score. Built once at start, then const.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/framework/filter.h"
#include "plugins/framework/score.h"

namespace maniple {

struct WeightedScore {
  std::unique_ptr<const ScorePlugin> plugin;
  int64_t weight = 1;
};

struct Profile {
  // A node is reported under the first that refuses it. Answers that depend on its class alone come
  // before all others.
  std::vector<std::unique_ptr<const FilterPlugin>> filters;
  std::vector<WeightedScore> scores;
};

}  // namespace maniple
