// The verdict of a filter on one node: whether it fits, and if not, why and what could help.
#pragma once

#include <cstdint>

#include "plugins/framework/reasons.h"

namespace maniple {

enum class Code : uint8_t {
  kFits,
  kUnschedulable,  // not now; room freed by preemption may help
  kUnresolvable,   // no pod's leaving can help
  kWait,           // not yet; time alone will help
};

struct [[nodiscard]] Verdict {
  Code code = Code::kFits;
  Reason reason;  // set unless kFits

  [[nodiscard]] bool fits() const { return code == Code::kFits; }
};

}  // namespace maniple
