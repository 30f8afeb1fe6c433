// The one table of policies: names, factories, default weights. Adding a policy is one row in
// builtin.cc.
//
//   Profile profile = BuiltinProfile();  // every row, with its default weight
#pragma once

#include <memory>
#include <span>

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

[[nodiscard]] Profile BuiltinProfile();

}  // namespace maniple
