// Files that a command writes for one of several runs.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// jobs.csv of run b is jobs-b.csv. Runs of two names have two files.
[[nodiscard]] std::string FileOfRun(const std::string& file, absl::string_view run);

}  // namespace maniple
