// The run times of pods, and the protection of gangs, as far as their objects tell.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple {

// By pod, "namespace/name": its activeDeadlineSeconds or its PodGroup's expectedRuntimeSeconds,
// whichever is less. Pods without either are not in it.
using RunTimes = absl::flat_hash_map<std::string, absl::Duration>;
[[nodiscard]] RunTimes RunTimesOf(const std::vector<Json>& objects);

// The ends of running pods.
struct KnownEnds {
  std::multimap<absl::Time, std::string> pods;  // "namespace/name"
  std::vector<std::string> overdue;             // those that end sometime
  bool some_unknown = false;                    // some other running pod has no known end
};
// A pod that ought to have ended already …
enum class Overdue : uint8_t {
  kEndsNow,
  kEndsSometime,  // its end is not known, as the scheduler itself takes it
};
[[nodiscard]] KnownEnds KnownEndsOf(const std::vector<Json>& objects, const RunTimes& run_times,
                                    absl::Time now, Overdue overdue);

// When the next of the pods that are leaving is gone at the latest; infinite: none is leaving.
[[nodiscard]] absl::Time NextGone(const std::vector<Json>& objects, absl::Time now);

// When gangs that run may be evicted for the first time: those that their Queue's minRuntimeSeconds
// or their own protectedRuntimeSeconds protects.
[[nodiscard]] std::set<absl::Time> ProtectionEndsOf(const std::vector<Json>& objects);

// A pod that has a node and has not ended.
[[nodiscard]] bool StandsSomewhere(const Json& object);
[[nodiscard]] std::string KeyOf(const Json& object);  // "namespace/name"

}  // namespace maniple
