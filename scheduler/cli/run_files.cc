#include "scheduler/cli/run_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

// As a file, what it is redirected to would be opened anew, and written from its beginning.
bool IsStandardOutput(const std::string& file) { return file == "-" || file == "/dev/stdout"; }

bool IsToBeReplaced(const std::string& file) {
  std::error_code unknown;
  const std::filesystem::file_status there = std::filesystem::symlink_status(file, unknown);
  return !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
}

// What a link leads to may be still to be made.
absl::Status MakeTargetOf(const std::string& link, FileAccess access) {
  std::error_code unknown;
  if (std::filesystem::exists(link, unknown)) return absl::OkStatus();
  const mode_t mode = access == FileAccess::kOwner ? 0600 : 0666;
  const int made = ::open(link.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode);
  if (made < 0) return absl::ErrnoToStatus(errno, link);
  ::close(made);
  return absl::OkStatus();
}

}  // namespace

std::string FileOfRun(const std::string& file, absl::string_view run) {
  if (IsStandardOutput(file)) return file;
  const std::filesystem::path path(file);
  // A name may be a path. A plus in it is doubled, so that it differs from a slash.
  const std::string plain = absl::StrReplaceAll(run, {{"+", "++"}, {"/", "+"}});
  return (path.parent_path() /
          absl::StrCat(path.stem().string(), "-", plain, path.extension().string()))
      .string();
}

absl::Status CheckRunFile(const std::string& file) {
  if (file.empty() || IsStandardOutput(file) || !IsToBeReplaced(file)) return absl::OkStatus();
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, file);
}

absl::Status WriteRunFile(const std::string& file, absl::string_view bytes, FileAccess access) {
  if (IsStandardOutput(file)) {
    std::cout << bytes;
    return absl::OkStatus();  // the program asks at its end whether that went well
  }
  if (IsToBeReplaced(file)) return WriteWholeFile(file, bytes, access);
  RETURN_IF_ERROR(MakeTargetOf(file, access));
  std::ofstream out(file, std::ios::binary);
  out << bytes << std::flush;
  if (out) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(file, ": cannot be written"));
}

}  // namespace maniple
