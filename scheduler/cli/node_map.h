// The map that `maniple nodes --map` draws: GPUs by topology domain, a letter for each gang.
//
//   rack-1: 16 of 25 taken
//     gpu-01  AAAAAAAA
//     gpu-02  AAAA....
//     mig-01  1g.10gb BBB....  3g.40gb C.
//   A default/llama-pretrain  B default/notebooks  C default/serving
//
// Counts, never positions: which device a pod got is not visible to a scheduler. `#` is what pods
// of no gang hold, `.` is free. A pure function of the admin surface's JSON.
#pragma once

#include <string>

#include "api/codec/json.h"

namespace maniple {

[[nodiscard]] std::string NodeMap(const Json& nodes);

}  // namespace maniple
