// What can go wrong between a scheduler and its API server, and how often it has.
#pragma once

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace maniple::sim {

enum class Fault : uint8_t {
  kLostRequest,   // never arrives; the caller sees a broken connection
  kLostReply,     // takes effect; the caller sees a broken connection or a timeout
  kConflict,      // 409 "the object has been modified", without effect
  kThrottled,     // 429 with Retry-After
  kServerError,   // 500 or 503, without effect
  kWatchDropped,  // an open watch ends in the middle of a line
  kWatchDelayed,  // what a watch delivers comes seconds late
  kHistoryLost,   // the server forgets its history: 410, every watch is cut
  kCrash,         // the scheduler is killed and started again
};
inline constexpr int kFaults = 9;
[[nodiscard]] absl::string_view FaultName(Fault fault);

// One chance in n for each opportunity; 0 = never.
struct FaultRates {
  std::array<uint32_t, kFaults> one_in = {40, 40, 40, 60, 40, 60, 60, 0, 0};
  [[nodiscard]] static FaultRates None() {
    FaultRates rates;
    rates.one_in.fill(0);
    return rates;
  }
};

using FaultCounts = std::array<uint64_t, kFaults>;

}  // namespace maniple::sim
