// Keeps the decision log: lines of JSON at the end of a file, or on standard output.
//
// Owned by the keeping thread once it runs. A file that cannot be written is told once, and what
// was lost once it can be, or at the end; the scheduler goes on.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/app/doors/decision_queue.h"

namespace maniple {

class DecisionFile final {
 public:
  // Fails when the file cannot be opened for appending. "-" is standard output.
  static absl::StatusOr<std::unique_ptr<DecisionFile>> Open(const std::string& path);

  ~DecisionFile();
  DecisionFile(const DecisionFile&) = delete;
  DecisionFile& operator=(const DecisionFile&) = delete;

  // Appends what comes until the queue is closed.
  void Keep(DecisionQueue& queue);

 private:
  DecisionFile(std::string path, int file) : path_(std::move(path)), file_(file) {}

  void Write(const DecisionQueue::Batch& batch);
  // REQUIRES: errno says why.
  void Lose(size_t entries);

  const std::string path_;
  const int file_;
  size_t lost_ = 0;    // since the file could be written
  bool torn_ = false;  // its last line ends in the middle
};

}  // namespace maniple
