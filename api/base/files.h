// Whole files, read and written, for the start and the end of a program. Any thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

enum class FileAccess { kAll, kOwner };  // who may read what is written

// Errors name the path and say what the system said. More than 1 GiB is refused, so that a device
// without an end is.
[[nodiscard]] absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Never leaves half a file: written beside and renamed. Follows no link: what stands there is
// replaced.
[[nodiscard]] absl::Status WriteWholeFile(const std::string& path, absl::string_view bytes,
                                          FileAccess access);

// Opens what is closed of stdin, stdout and stderr, so that no later file or socket takes its
// number and receives what is meant for people. Call it first in main.
void OpenStandardStreams();

}  // namespace maniple
