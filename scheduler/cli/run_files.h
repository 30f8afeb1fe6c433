// Files that a command writes, also for one of several runs.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/base/files.h"

namespace maniple {

// jobs.csv of run b is jobs-b.csv. Runs of two names have two files; all have one standard output.
[[nodiscard]] std::string FileOfRun(const std::string& file, absl::string_view run);

// Whether WriteRunFile could write it: asked before hours of work. "" is no file.
[[nodiscard]] absl::Status CheckRunFile(const std::string& file);
// A file whole or not at all. A pipe, a device or a link is written into: others have it open, or
// the machine needs it. "-" and "/dev/stdout" are standard output.
[[nodiscard]] absl::Status WriteRunFile(const std::string& file, absl::string_view bytes,
                                        FileAccess access);

}  // namespace maniple
