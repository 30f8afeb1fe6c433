#include "scheduler/app/profile.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugins/builtin.h"

namespace maniple {
namespace {

template <typename Rows>
std::string WhyNotOneOf(const Rows& rows, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& row : rows) known.emplace_back(row.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return "";
  return absl::StrCat("no plugin \"", name, "\"; there are ", absl::StrJoin(known, ", "));
}

}  // namespace

std::string WhyNoFilter(const std::string& name) { return WhyNotOneOf(BuiltinFilters(), name); }
std::string WhyNoScore(const std::string& name) { return WhyNotOneOf(BuiltinScores(), name); }

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
