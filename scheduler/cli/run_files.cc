#include "scheduler/cli/run_files.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace maniple {

std::string FileOfRun(const std::string& file, absl::string_view run) {
  const std::filesystem::path path(file);
  // A name may be a path. A plus in it is doubled, so that it differs from a slash.
  const std::string plain = absl::StrReplaceAll(run, {{"+", "++"}, {"/", "+"}});
  return (path.parent_path() /
          absl::StrCat(path.stem().string(), "-", plain, path.extension().string()))
      .string();
}

}  // namespace maniple
