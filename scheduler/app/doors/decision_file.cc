#include "scheduler/app/doors/decision_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/log.h"

namespace maniple {
namespace {

// A pipe that nobody reads is an error, and no reason to wait before the first signal is heard.
std::FILE* OpenForAppending(const std::string& path) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return nullptr;
  ::fcntl(file, F_SETFL, O_WRONLY | O_APPEND);
  return ::fdopen(file, "a");
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecisionFile>> DecisionFile::Open(const std::string& path) {
  // A file of its own also for standard output, so that it is closed once.
  std::FILE* file = path == "-" ? ::fdopen(::dup(STDOUT_FILENO), "a") : OpenForAppending(path);
  if (file == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("--decision-log ", path, ": ", std::generic_category().message(errno)));
  }
  return std::unique_ptr<DecisionFile>(
      new DecisionFile(path, std::unique_ptr<std::FILE, Closer>(file)));
}

void DecisionFile::Keep(DecisionQueue& queue) {
  while (true) {
    const DecisionQueue::Batch batch = queue.Take();
    Write(batch);
    if (batch.closed) return;
  }
}

void DecisionFile::Write(const DecisionQueue::Batch& batch) {
  if (batch.lost > 0) {
    LOG(WARNING) << batch.lost << " decisions came faster than " << path_
                 << " takes them, and were lost";
  }
  std::string lines;
  for (const DecisionEntry& entry : batch.entries) absl::StrAppend(&lines, JsonLineOf(entry), "\n");
  if (lines.empty()) return;
  std::fwrite(lines.data(), 1, lines.size(), file_.get());
  const bool failed = std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0;
  if (failed && !told_) {
    LOG(ERROR) << "decisions cannot be written to " << path_ << ": "
               << std::generic_category().message(errno);
  }
  told_ = failed;
  std::clearerr(file_.get());
}

}  // namespace maniple
