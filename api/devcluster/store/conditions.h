// The entries of status.conditions that the API server and its controllers keep.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct ConditionState {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason = {};
  std::string message = {};
  int64_t observed_generation = 0;  // 0: the condition has none
  bool probed = false;              // it has a lastProbeTime, as those of pods have
};

// Adds it to status.conditions or replaces the one of its type; lastTransitionTime moves only when
// the status does.
void SetCondition(Json& object, const ConditionState& condition, absl::Time now);

// The condition's own object, or null.
[[nodiscard]] const Json& FindCondition(const Json& object, absl::string_view type);

}  // namespace maniple::devcluster
