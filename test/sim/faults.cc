#include "test/sim/faults.h"

namespace maniple::sim {

absl::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kLostRequest:
      return "lost request";
    case Fault::kLostReply:
      return "lost reply";
    case Fault::kConflict:
      return "409 conflict";
    case Fault::kThrottled:
      return "429 throttled";
    case Fault::kServerError:
      return "500/503 server error";
    case Fault::kWatchDropped:
      return "watch dropped";
    case Fault::kWatchDelayed:
      return "watch delayed";
    case Fault::kHistoryLost:
      return "history lost (410)";
    case Fault::kCrash:
      return "scheduler crash";
  }
  return "";
}

}  // namespace maniple::sim
