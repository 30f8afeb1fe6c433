// How long turns of the scheduling loop took.
#pragma once

#include <array>

#include "api/base/duration_histogram.h"

namespace maniple {

struct TurnScale {  // 10 µs to 10 s
  static constexpr std::array<double, 13> kBounds = {1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
                                                     1e-2, 5e-2, 0.1,    0.5,  1,    10};
};
using TurnTimes = DurationHistogram<TurnScale>;

}  // namespace maniple
