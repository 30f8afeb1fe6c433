// Why an item waits, from the decision that rejected it. Plain values, kept by Parking.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/report/gang_view.h"
#include "scheduler/report/reason.h"

namespace maniple {

// Gangs with the same reasons share one.
struct WaitingFor {
  WaitReason reason = WaitReason::kNoFit;
  std::string message;
  std::vector<NodeReasonView> nodes;
  std::optional<QuotaLineView> quota;  // without borrowers: these are found when asked for
  std::string unnamed;                 // as in Standing
  std::string no_preemption;           // why no gang can be made to leave for it; "" = unsaid
  friend bool operator==(const WaitingFor&, const WaitingFor&) = default;
};
using WaitingForPtr = std::shared_ptr<const WaitingFor>;

}  // namespace maniple
