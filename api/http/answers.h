// How many requests were answered how, and how long that took. Values.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "api/base/duration_histogram.h"
#include "api/http/http.h"

namespace maniple {

// By method and status; 0 = no answer came.
using AnswerCounts = absl::btree_map<std::pair<HttpMethod, int>, uint64_t>;

struct AnswerScale {  // 5 ms to a minute, as client-go has it
  static constexpr std::array<double, 12> kBounds = {0.005, 0.025, 0.1, 0.25, 0.5, 1,
                                                     2,     4,     8,   15,   30,  60};
};
// By method; from the first byte that is sent to the head of the answer. Watches are not among
// them.
using AnswerTimes = absl::btree_map<HttpMethod, DurationHistogram<AnswerScale>>;

struct Answers {
  AnswerCounts counts;
  AnswerTimes times;
};

}  // namespace maniple
