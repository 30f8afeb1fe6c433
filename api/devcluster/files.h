// Whole files, read and written. For the binary's start and end only.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple::devcluster {

enum class FileAccess { kAll, kOwner };  // who may read what is written

// Errors name the path.
[[nodiscard]] absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Never leaves half a file: written beside and renamed.
[[nodiscard]] absl::Status WriteWholeFile(const std::string& path, absl::string_view bytes,
                                          FileAccess access);

}  // namespace maniple::devcluster
