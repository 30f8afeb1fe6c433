// The packed marks of pods that are given as text.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "api/producers/marks.h"
#include "test/unit/producers/fixture.h"

namespace maniple {

class PackedPods final {
 public:
  PackedPods() = default;
  PackedPods(const PackedPods&) = delete;
  PackedPods& operator=(const PackedPods&) = delete;

  // As PodWith has it.
  PodMarks Add(absl::string_view metadata, absl::string_view owner = "") {
    return Add(PodWith("p", metadata, owner), BuiltinForeignKinds());
  }
  PodMarks Add(const Pod& pod, const ForeignKinds& kinds) {
    PackMarks(pod, kinds, packed_.emplace_back());
    marks_.emplace_back(packed_.back());
    return marks_.back();
  }
  [[nodiscard]] const std::vector<PodMarks>& marks() const { return marks_; }

 private:
  std::deque<std::string> packed_;  // that stay where they are
  std::vector<PodMarks> marks_;
};

}  // namespace maniple
