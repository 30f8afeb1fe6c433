// What pods with GPUs typically ask for here: the mix of requests that scores look ahead by.
//
// Observed by scheduler/state and frozen into snapshots. A new mix is published only when requests
// have moved (scheduler/state/observed_mix.h says how far), for with it whatever a score has said
// so far is forgotten: two snapshots are of one mix iff they share the pointer. A plain value; once
// published it never changes and any thread may read it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "api/model/ids.h"

namespace maniple {

struct TypicalRequest {
  // By resource; no zero amounts, no pod slots.
  std::vector<std::pair<ResourceId, int64_t>> amounts;
  int64_t parts = 0;  // of the mix, in millionths; positive
  friend bool operator==(const TypicalRequest&, const TypicalRequest&) = default;
};

struct RequestMix {
  // The most frequent first, then by amounts.
  std::vector<TypicalRequest> requests;
};

}  // namespace maniple
