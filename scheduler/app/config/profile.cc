#include "scheduler/app/config/profile.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/builtin.h"

namespace maniple {

absl::StatusOr<Profile> ProfileFor(const SchedulerConfig& config) {
  ProfileSpec spec;
  for (const FilterRow& row : BuiltinFilters()) {
    const std::string name(row.name);
    const auto& disabled = config.disabled_filters;
    if (std::find(disabled.begin(), disabled.end(), name) == disabled.end())
      spec.filters.push_back(name);
  }
  for (const ScoreRow& row : BuiltinScores()) {
    ProfileSpec::Score score{.name = std::string(row.name), .weight = row.weight};
    for (const ScoreWeight& weight : config.score_weights) {
      if (weight.plugin == score.name) score.weight = weight.weight;
    }
    spec.scores.push_back(std::move(score));
  }
  return MakeProfile(spec);
}

}  // namespace maniple
