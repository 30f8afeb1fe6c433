// What the kernel tells of this process, for the metrics that every Prometheus client has.
#pragma once

#include "absl/strings/string_view.h"

namespace maniple {

struct ProcessFigures {
  double cpu_seconds = 0;  // user and system
  double resident_bytes = 0;
  double start_seconds = 0;  // since 1970
  double open_descriptors = 0, most_descriptors = 0;
};

// What cannot be read stays 0.
[[nodiscard]] ProcessFigures FiguresOfThisProcess();

// Of the text of /proc/PID/stat (proc(5)): fields 14, 15, 22 and 24, and of /proc/stat the line
// `btime`. The second field may contain blanks and parentheses.
void ReadProcessStat(absl::string_view stat, absl::string_view kernel_stat, double ticks_per_second,
                     double page_bytes, ProcessFigures& figures);

}  // namespace maniple
