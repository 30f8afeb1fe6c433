#include "api/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

constexpr size_t kLongestFile = size_t{1} << 30;

absl::Status SystemError(const std::string& path) { return absl::ErrnoToStatus(errno, path); }
absl::Status TooLong(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": is larger than 1 GiB"));
}

bool IsManifest(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path);
  std::string out;
  char block[65536];
  ssize_t got = 0;
  struct stat info {};
  if (fstat(file, &info) == 0 && info.st_size > static_cast<off_t>(kLongestFile)) {
    close(file);
    return TooLong(path);
  }
  while (out.size() <= kLongestFile && (got = read(file, block, sizeof block)) > 0) {
    out.append(block, static_cast<size_t>(got));
  }
  const absl::Status status = got < 0 ? SystemError(path) : absl::OkStatus();
  close(file);
  if (!status.ok()) return status;
  if (out.size() > kLongestFile) return TooLong(path);
  return out;
}

absl::StatusOr<std::vector<std::string>> ManifestFilesAt(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file or directory"));
  }
  if (!std::filesystem::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  std::filesystem::recursive_directory_iterator walk(path, error);
  for (; !error && walk != std::filesystem::end(walk); walk.increment(error)) {
    std::error_code unknown;  // a link to nowhere, or to where we may not look, is no manifest
    if (IsManifest(walk->path()) && walk->is_regular_file(unknown)) {
      files.push_back(walk->path().string());
    }
  }
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(path, ": no *.yaml, *.yml or *.json in it"));
  }
  std::ranges::sort(files);
  return files;
}

absl::Status WriteWholeFile(const std::string& path, absl::string_view bytes, FileAccess access) {
  const std::string beside = absl::StrCat(path, ".new");
  // A new file of our own: in /tmp the old one may be another user's link.
  unlink(beside.c_str());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        access == FileAccess::kOwner ? 0600 : 0644);
  if (file < 0) return SystemError(path);
  absl::Status status;
  while (status.ok() && !bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0) {
      status = SystemError(path);
    } else {
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }
  if (close(file) != 0 && status.ok()) status = SystemError(path);
  if (status.ok() && std::rename(beside.c_str(), path.c_str()) != 0) status = SystemError(path);
  if (!status.ok()) unlink(beside.c_str());
  return status;
}

void OpenStandardStreams() {
  int file = 0;
  // The lowest free number is taken each time.
  while (file >= 0 && file <= STDERR_FILENO) file = open("/dev/null", O_RDWR);
  if (file > STDERR_FILENO) close(file);
}

}  // namespace maniple
