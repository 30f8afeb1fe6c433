#include "scheduler/app/socket_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace maniple {
namespace {

std::filesystem::path FolderOf(const std::string& socket_path) {
  const std::filesystem::path folder = std::filesystem::path(socket_path).parent_path();
  return folder.empty() ? "." : folder;
}

absl::Status Unsafe(const std::filesystem::path& folder, absl::string_view why) {
  return absl::PermissionDeniedError(
      absl::StrCat("the folder ", folder.string(), " ", why,
                   ": another user could put a socket there; name one in a folder of your own, of "
                   "mode 0700, by --admin unix:PATH"));
}

absl::Status CannotMake(const std::filesystem::path& folder, const std::string& why) {
  return absl::UnavailableError(absl::StrCat("cannot make ", folder.string(), ": ", why));
}

}  // namespace

absl::Status CheckSocketFolder(const std::string& socket_path) {
  const std::filesystem::path folder = FolderOf(socket_path);
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) return absl::OkStatus();
  if (S_ISLNK(found.st_mode)) return Unsafe(folder, "is a symbolic link");
  if (found.st_uid != ::geteuid() && found.st_uid != 0) {
    return Unsafe(folder,
                  absl::StrCat("belongs to user ", found.st_uid, ", we are user ", ::geteuid()));
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Unsafe(
        folder, absl::StrFormat("may be written to by others (mode %04o)", found.st_mode & 07777));
  }
  return absl::OkStatus();
}

absl::Status MakeSocketFolder(const std::string& socket_path) {
  const std::filesystem::path folder = FolderOf(socket_path);
  std::error_code error;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return CannotMake(folder, error.message());
  // Made with its mode: a moment in which others could write would be enough for them.
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return CannotMake(folder, std::generic_category().message(errno));
  }
  return CheckSocketFolder(socket_path);
}

}  // namespace maniple
