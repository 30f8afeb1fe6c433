// Keeps the decision log: lines of JSON at the end of a file, or on standard output.
//
// Owned by the keeping thread once it runs. A file that cannot be written is told once, and again
// after it could be; the scheduler goes on.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/app/doors/decision_queue.h"

namespace maniple {

class DecisionFile final {
 public:
  // Fails when the file cannot be opened for appending. "-" is standard output.
  static absl::StatusOr<std::unique_ptr<DecisionFile>> Open(const std::string& path);

  // Appends what comes until the queue is closed.
  void Keep(DecisionQueue& queue);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  DecisionFile(std::string path, std::unique_ptr<std::FILE, Closer> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  void Write(const DecisionQueue::Batch& batch);

  const std::string path_;
  const std::unique_ptr<std::FILE, Closer> file_;
  bool told_ = false;  // that it cannot be written
};

}  // namespace maniple
