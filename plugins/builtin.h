// The one table of policies: names, factories, default weights. Adding a policy is one row in
// builtin.cc.
//
//   Profile profile = BuiltinProfile();                       // every row, with its default weight
//   auto chosen = MakeProfile({.filters = {"NodeResourcesFit"}, .scores = {{"Packing", 2}}});
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugins/framework/profile.h"

namespace maniple {

struct FilterRow {
  absl::string_view name;
  std::unique_ptr<const FilterPlugin> (*make)();
};
struct ScoreRow {
  absl::string_view name;
  int64_t weight;
  std::unique_ptr<const ScorePlugin> (*make)();
};
// In the order in which they run and report.
[[nodiscard]] std::span<const FilterRow> BuiltinFilters();
[[nodiscard]] std::span<const ScoreRow> BuiltinScores();

// Names of the configuration file; weights 0..1000.
struct ProfileSpec {
  struct Score {
    std::string name;
    int64_t weight = 1;
  };
  std::vector<std::string> filters;
  std::vector<Score> scores;
};
// The result has the order of the table, whatever order the spec has.
// Unknown and repeated names are errors that say so.
[[nodiscard]] absl::StatusOr<Profile> MakeProfile(const ProfileSpec& spec);
[[nodiscard]] Profile BuiltinProfile();

}  // namespace maniple
