#include "scheduler/app/doors/decision_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "api/base/log.h"

namespace maniple {
namespace {

// A pipe that nobody reads is an error, and no reason to wait before the first signal is heard.
int OpenForAppending(const std::string& path) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file >= 0) ::fcntl(file, F_SETFL, O_WRONLY | O_APPEND);
  return file;
}

// A file of its own, so that it is closed once.
int StandardOutput() {
  const int file = ::dup(STDOUT_FILENO);
  if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_APPEND);
  return file;
}

// The part that was written; errno says why it is not all.
absl::string_view WriteTo(int file, absl::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return bytes.substr(0, done);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecisionFile>> DecisionFile::Open(const std::string& path) {
  const int file = path == "-" ? StandardOutput() : OpenForAppending(path);
  if (file < 0) {
    return absl::UnavailableError(
        absl::StrCat("--decision-log ", path, ": ", std::generic_category().message(errno)));
  }
  return std::unique_ptr<DecisionFile>(new DecisionFile(path, file));
}

DecisionFile::~DecisionFile() { ::close(file_); }

void DecisionFile::Keep(DecisionQueue& queue) {
  while (true) {
    const DecisionQueue::Batch batch = queue.Take();
    Write(batch);
    if (batch.closed) break;
  }
  if (lost_ > 0) LOG(WARNING) << lost_ << " decisions could not be written to " << path_;
}

void DecisionFile::Write(const DecisionQueue::Batch& batch) {
  if (batch.lost > 0) {
    LOG(WARNING) << batch.lost << " decisions came faster than " << path_
                 << " takes them, and were lost";
  }
  std::string lines;
  for (const DecisionEntry& entry : batch.entries) absl::StrAppend(&lines, JsonLineOf(entry), "\n");
  if (lines.empty()) return;
  // What a full disk took of a line stays a line of its own.
  if (torn_ && WriteTo(file_, "\n").empty()) return Lose(batch.entries.size());
  const absl::string_view written = WriteTo(file_, lines);
  torn_ = !written.empty() && written.back() != '\n';
  if (written.size() < lines.size()) {
    const auto whole = static_cast<size_t>(std::ranges::count(written, '\n'));
    return Lose(batch.entries.size() - whole);
  }
  if (lost_ > 0) {
    LOG(INFO) << "decisions are written to " << path_ << " again; " << lost_ << " were lost";
  }
  lost_ = 0;
}

void DecisionFile::Lose(size_t entries) {
  if (lost_ == 0) {
    LOG(ERROR) << "decisions cannot be written to " << path_ << ": "
               << std::generic_category().message(errno);
  }
  lost_ += entries;
}

}  // namespace maniple
