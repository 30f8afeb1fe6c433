// How long pods run, as far as somebody says so: from the objects alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple {

// By pod, "namespace/name": its activeDeadlineSeconds or its PodGroup's expectedRuntimeSeconds,
// whichever is less. Pods of which nobody says it are not in it.
using RunTimes = absl::flat_hash_map<std::string, absl::Duration>;
[[nodiscard]] RunTimes RunTimesOf(const std::vector<Json>& objects);

// When running pods will end. What ought to have ended already ends now.
struct KnownEnds {
  std::multimap<absl::Time, std::string> pods;  // "namespace/name"
  bool some_unknown = false;                    // of other pods that run
};
[[nodiscard]] KnownEnds KnownEndsOf(const std::vector<Json>& objects, const RunTimes& run_times,
                                    absl::Time now);

// A pod that has a node and has not ended.
[[nodiscard]] bool StandsSomewhere(const Json& object);
[[nodiscard]] std::string KeyOf(const Json& object);  // "namespace/name"

}  // namespace maniple
