#include "scheduler/simulate/plot.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace maniple {
namespace {

constexpr double kPanelWidth = 320, kPanelHeight = 260, kMargin = 44, kHead = 26, kFoot = 40;

// The mapping from values to pixels in one panel.
struct Frame {
  const PlotAxes& axes;
  double x0 = 0;

  [[nodiscard]] double X(double value) const {
    return x0 + kMargin +
           (value - axes.left) / (axes.right - axes.left) * (kPanelWidth - kMargin - 8);
  }
  [[nodiscard]] double Y(double value) const {
    return kHead + (axes.top - value) / (axes.top - axes.bottom) * (kPanelHeight - kHead - kFoot);
  }
};

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         text);
}

std::string Line(double x1, double y1, double x2, double y2) {
  return absl::StrFormat("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#ccc\"/>\n", x1, y1, x2, y2);
}

std::string GridOf(const Frame& frame) {
  const PlotAxes& axes = frame.axes;
  std::string svg;
  for (double x = axes.left; x <= axes.right + 1e-9; x += axes.step_across) {
    absl::StrAppend(&svg, Line(frame.X(x), frame.Y(axes.bottom), frame.X(x), frame.Y(axes.top)),
                    Text(frame.X(x), kPanelHeight - kFoot + 14, "middle", absl::StrCat(x)));
  }
  for (double y = axes.bottom; y <= axes.top + 1e-9; y += axes.step_up) {
    absl::StrAppend(&svg, Line(frame.X(axes.left), frame.Y(y), frame.X(axes.right), frame.Y(y)),
                    Text(frame.X(axes.left) - 5, frame.Y(y) + 4, "end", absl::StrCat(y)));
  }
  return svg;
}

std::string Stroke(const std::string& path, const PlotLine& line) {
  return absl::StrFormat("<path d=\"%s\" stroke=\"%s\" stroke-width=\"1.6\"%s/>\n", path,
                         line.colour, line.dotted ? " stroke-dasharray=\"2 3\"" : "");
}

std::string CurveOf(const Frame& frame, const PlotLine& line) {
  std::string path;
  for (const auto& [x, y] : line.points) {
    if (x < frame.axes.left || x > frame.axes.right) continue;
    if (y < frame.axes.bottom || y > frame.axes.top) continue;
    absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L", frame.X(x), frame.Y(y));
  }
  return Stroke(path, line);
}

// The meaning of each colour, below the panels.
std::string LegendOf(const PlotPanel& panel, const std::string& up) {
  std::string svg = Text(kMargin, kPanelHeight + 8, "start", up);
  double x = kMargin + 7.0 * static_cast<double>(up.size());
  for (const PlotLine& line : panel.lines) {
    absl::StrAppend(&svg, Stroke(absl::StrFormat("M%.0f %.0fh22", x, kPanelHeight + 4), line),
                    Text(x + 27, kPanelHeight + 8, "start", line.name));
    x += 50 + 6.5 * static_cast<double>(line.name.size());
  }
  return svg;
}

}  // namespace

std::string PlotOf(const std::vector<PlotPanel>& panels, const PlotAxes& axes) {
  const double width = kPanelWidth * static_cast<double>(panels.size());
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
      "<style>text{font:11px sans-serif;fill:#222}path{fill:none}</style>\n",
      width, kPanelHeight + 18, width);
  for (size_t i = 0; i < panels.size(); ++i) {
    const Frame frame{.axes = axes, .x0 = kPanelWidth * static_cast<double>(i)};
    absl::StrAppend(&svg, GridOf(frame), Text(frame.X(axes.left), 16, "start", panels[i].title),
                    Text(frame.X(axes.right), kPanelHeight - 10, "end", axes.across));
    for (const PlotLine& line : panels[i].lines) absl::StrAppend(&svg, CurveOf(frame, line));
  }
  if (!panels.empty()) absl::StrAppend(&svg, LegendOf(panels.front(), axes.up));
  absl::StrAppend(&svg, "</svg>\n");
  return svg;
}

}  // namespace maniple
