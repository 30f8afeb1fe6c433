#include "scheduler/app/config/profile.h"

#include <algorithm>

#include "plugins/builtin.h"

namespace maniple {

Profile ProfileFor(const SchedulerConfig& config) {
  Profile profile;
  for (const FilterRow& row : BuiltinFilters()) {
    const auto& disabled = config.disabled_filters;
    if (std::ranges::find(disabled, row.name) != disabled.end()) continue;
    profile.filters.push_back(row.make());
  }
  for (const ScoreRow& row : BuiltinScores()) {
    int64_t weight = row.weight;
    for (const ScoreWeight& given : config.score_weights) {
      if (given.plugin == row.name) weight = given.weight;
    }
    if (weight != 0) profile.scores.push_back({.plugin = row.make(), .weight = weight});
  }
  return profile;
}

}  // namespace maniple
