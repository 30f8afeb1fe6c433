// The history of the gangs of one Queue since this process leads. A value.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "api/base/duration_histogram.h"

namespace maniple {

struct GangWaitScale {  // 1 s to two weeks
  static constexpr std::array<double, 16> kBounds = {
      1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 10800, 21600, 43200, 86400, 604800, 1209600};
};
struct GangBindScale {  // 1 ms to a minute
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    10,    60};
};
struct GangReadyScale {  // 1 s to a day
  static constexpr std::array<double, 12> kBounds = {1,   2,   5,   10,   20,   60,
                                                     120, 300, 600, 1800, 7200, 86400};
};
// Why a gang had to leave as a whole.
enum class LeavingCause : uint8_t { kPreempted, kDrained, kQuorumLost };
inline constexpr std::array<const char*, 3> kLeavingCauses = {"Preempted", "Drained", "QuorumLost"};

// The Queue of the gangs that a gang made leave: its own, another one, or none.
enum class VictimsOf : uint8_t { kSameQueue, kOtherQueue, kNoQueue };
inline constexpr std::array<const char*, 3> kVictimsOf = {"SameQueue", "OtherQueue", "NoQueue"};

struct QueueHistory {
  // From a gang's creation, or its last leaving, to its quorum being bound.
  DurationHistogram<GangWaitScale> waited;
  // From the decision to its quorum being bound.
  DurationHistogram<GangBindScale> bound;
  // From its quorum being bound to its quorum being Ready: images, volumes, probes.
  DurationHistogram<GangReadyScale> ready;
  std::array<int64_t, kLeavingCauses.size()> left = {};  // gangs, by LeavingCause
  // Gangs that were made to leave whole for gangs of this Queue, by VictimsOf.
  std::array<int64_t, kVictimsOf.size()> preempted = {};
  // The run of pods of this Queue that were sent away, as amount x seconds of each GPU resource. No
  // checkpoints are known: all of it counts.
  absl::btree_map<std::string, double> lost;
};

}  // namespace maniple
