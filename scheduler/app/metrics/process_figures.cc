#include "scheduler/app/metrics/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/files.h"

namespace maniple {
namespace {

// Counted from the field after the name, the third of proc(5).
constexpr size_t kUserTicks = 14 - 3, kSystemTicks = 15 - 3, kStartTicks = 22 - 3,
                 kResidentPages = 24 - 3;

double Number(absl::string_view text) {
  double number = 0;
  return absl::SimpleAtod(text, &number) ? number : 0;
}

double BootSeconds(absl::string_view kernel_stat) {
  for (absl::string_view line : absl::StrSplit(kernel_stat, '\n')) {
    if (absl::ConsumePrefix(&line, "btime ")) return Number(line);
  }
  return 0;
}

}  // namespace

void ReadProcessStat(absl::string_view stat, absl::string_view kernel_stat, double ticks_per_second,
                     double page_bytes, ProcessFigures& figures) {
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos || ticks_per_second <= 0) return;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipWhitespace());
  if (fields.size() <= kResidentPages) return;
  figures.cpu_seconds =
      (Number(fields[kUserTicks]) + Number(fields[kSystemTicks])) / ticks_per_second;
  figures.start_seconds = BootSeconds(kernel_stat) + Number(fields[kStartTicks]) / ticks_per_second;
  figures.resident_bytes = Number(fields[kResidentPages]) * page_bytes;
}

ProcessFigures FiguresOfThisProcess() {
  ProcessFigures figures;
  const auto stat = ReadWholeFile("/proc/self/stat");
  const auto kernel_stat = ReadWholeFile("/proc/stat");
  if (stat.ok() && kernel_stat.ok()) {
    ReadProcessStat(*stat, *kernel_stat, static_cast<double>(::sysconf(_SC_CLK_TCK)),
                    static_cast<double>(::sysconf(_SC_PAGESIZE)), figures);
  }
  std::error_code error;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd", error);
  if (!error) figures.open_descriptors = static_cast<double>(std::distance(begin(descriptors), {}));
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    figures.most_descriptors = static_cast<double>(limit.rlim_cur);
  }
  return figures;
}

}  // namespace maniple
