#include "scheduler/app/config/plugin_names.h"

#include <algorithm>
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

}  // namespace maniple
