// Whole files, read and written, for the start and the end of a program. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

enum class FileAccess { kAll, kOwner };  // the readers of a written file

// Errors name the path and the system's reason. More than 1 GiB is refused,
// and so is a device without an end.
[[nodiscard]] absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// The path of a file; of a folder every *.yaml, *.yml and *.json in it, at any depth, by name.
// Errors name the path.
[[nodiscard]] absl::StatusOr<std::vector<std::string>> ManifestFilesAt(const std::string& path);

// Never leaves half a file: written beside and renamed. Follows no link: a link at the path is
// replaced.
[[nodiscard]] absl::Status WriteWholeFile(const std::string& path, absl::string_view bytes,
                                          FileAccess access);

// Opens those of stdin, stdout and stderr that are closed. Otherwise a later file or socket could
// take the number, and receive text for people. REQUIRES: called first in main.
void OpenStandardStreams();

}  // namespace maniple
