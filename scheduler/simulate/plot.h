// Curves as a small SVG: panels side by side, each with its lines over the same axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace maniple {

struct PlotLine {
  std::string name;
  std::string colour;  // as SVG spells it
  std::vector<std::pair<double, double>> points;
  bool dotted = false;
};
struct PlotPanel {
  std::string title;
  std::vector<PlotLine> lines;
};
struct PlotAxes {
  double left = 0, right = 1, bottom = 0, top = 1;
  double step_across = 1, step_up = 1;
  std::string across, up;  // the titles of the axes
};
// Points outside the axes are left out. Names and titles are written as they are: no markup.
[[nodiscard]] std::string PlotOf(const std::vector<PlotPanel>& panels, const PlotAxes& axes);

}  // namespace maniple
