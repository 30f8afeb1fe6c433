#include "scheduler/simulate/simulation_plot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_replace.h"
#include "scheduler/simulate/plot.h"

namespace maniple {
namespace {

constexpr int kSteps = 240;
constexpr double kTop = 150;  // per cent; a larger demand is drawn there

// Means of each step of time, in per cent of all GPUs.
std::vector<std::pair<double, double>> Means(const SimulationResult& result, double hours,
                                             int64_t LoadPoint::*what) {
  std::vector<double> sums(kSteps);
  const double width = hours * 3600 / kSteps;
  for (size_t i = 0; i < result.load.size(); ++i) {
    const double end =
        absl::ToDoubleSeconds(i + 1 < result.load.size() ? result.load[i + 1].at : result.length);
    const double at = absl::ToDoubleSeconds(result.load[i].at);
    auto step = std::min(static_cast<int>(at / width), kSteps - 1);
    for (double from = at; from < end; ++step) {
      // The last step ends with the line, whatever the rounding.
      const double until = step == kSteps - 1 ? end : std::min(end, (step + 1) * width);
      sums[step] += std::max(0.0, until - from) * static_cast<double>(result.load[i].*what);
      from = std::max(from, until);
    }
  }
  std::vector<std::pair<double, double>> points;
  for (int step = 0; step < kSteps; ++step) {
    const double share = 100 * sums[step] / width / static_cast<double>(result.gpus);
    points.emplace_back((step + 0.5) * width / 3600, std::min(share, kTop));
  }
  return points;
}

// 1, 2 or 5 times a power of ten: six marks or a few more.
double StepOf(double length) {
  const double rough = length / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

}  // namespace

std::string SimulationPlot(const std::vector<DrawnRun>& runs) {
  double hours = 0;
  for (const DrawnRun& run : runs) {
    hours = std::max(hours, absl::ToDoubleHours(run.result->length));
  }
  hours = std::max(hours, 1.0 / 3600);
  std::vector<PlotPanel> panels;
  for (const DrawnRun& run : runs) {
    PlotPanel& panel = panels.emplace_back(PlotPanel{.title = Escaped(run.name)});
    if (run.result->gpus == 0) continue;
    const auto line = [&](const char* name, const char* colour, int64_t LoadPoint::*what) {
      panel.lines.push_back(
          {.name = name, .colour = colour, .points = Means(*run.result, hours, what)});
    };
    line("used", "#1f77b4", &LoadPoint::gpus_used);
    line("wanted by jobs that wait", "#d62728", &LoadPoint::gpus_wanted);
    line("free beside used ones", "#7f7f7f", &LoadPoint::gpus_split);
  }
  return PlotOf(panels, {.left = 0,
                         .right = hours,
                         .bottom = 0,
                         .top = kTop,
                         .step_across = StepOf(hours),
                         .step_up = 25,
                         .across = "hours",
                         .up = "per cent of all GPUs"});
}

}  // namespace maniple
