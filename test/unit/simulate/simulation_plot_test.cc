// The drawing of a simulation. Fears: a line that falls to nothing in the middle of a run, because
// a step of time ends where rounding says that it begins.
#include "scheduler/simulate/simulation_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace maniple::simulate_simulation_plot_test {
namespace {

// The heights of all points of the line of that colour, as they are drawn.
std::set<std::string> HeightsOf(const std::string& svg, const std::string& colour) {
  std::set<std::string> heights;
  for (const absl::string_view piece : absl::StrSplit(svg, "<path d=\"M")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(piece, absl::MaxSplits("\" stroke=\"", 1));
    if (parts.second.substr(0, colour.size()) != colour) continue;
    for (const absl::string_view point : absl::StrSplit(parts.first, 'L')) {
      const std::pair<std::string, std::string> at = absl::StrSplit(point, ' ');
      const bool legend = absl::StrContains(at.second, 'h');
      if (!legend) heights.insert(at.second);
    }
  }
  return heights;
}

TEST(SimulationPlot, ALoadThatStaysIsALevelLine) {
  for (int seconds = 1; seconds <= 500; ++seconds) {
    SimulationResult result{.gpus = 4, .length = absl::Seconds(seconds)};
    result.load = {{.at = absl::ZeroDuration(), .gpus_used = 3}};
    const std::string svg = SimulationPlot({{"run", &result}});
    EXPECT_EQ(HeightsOf(svg, "#1f77b4").size(), 1u) << seconds << " s";
  }
}

}  // namespace
}  // namespace maniple::simulate_simulation_plot_test
