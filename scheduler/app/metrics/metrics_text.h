// Lines of the text exposition format 0.0.4, written straight: there may be thousands of Queues
// with scores of lines each, and a library's objects for each line cost five times as much
// (bench/metrics_bench.cc).
//
//   MetricText text(out);
//   text.Begin("maniple_queue_info", "Always 1.", "gauge");
//   text.Add("maniple_queue_info", Label("queue", "team"), 1);
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "api/model/model.h"

namespace maniple {

// name="value"
[[nodiscard]] std::string Label(absl::string_view name, absl::string_view value);
// In base units: CPU in cores, where amounts are thousandths of them.
[[nodiscard]] double InBaseUnits(absl::string_view resource, Amount amount);

class MetricText final {
 public:
  explicit MetricText(std::string& out) : out_(out) {}

  void Begin(absl::string_view name, absl::string_view help, absl::string_view type);
  // `labels`: with commas between them. They go on with `more`, which begins with its comma.
  void Add(absl::string_view name, absl::string_view labels, absl::string_view more, double value);
  void Add(absl::string_view name, absl::string_view labels, double value) {
    Add(name, labels, "", value);
  }
  // The value of a line whose name and labels have been written.
  void EndLine(int64_t value);

 private:
  std::string& out_;
};

}  // namespace maniple
