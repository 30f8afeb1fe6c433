// GPU-hours by Queue, namespace and flavor, from the JSON of the admin surface. Pure functions of
// data.
#pragma once

#include <string>
#include <vector>

#include "api/codec/json.h"

namespace maniple {

// Whom or what the use is told of; each is a field of a row of the answer.
inline constexpr const char* kUsageKeys[] = {"queue", "namespace", "flavor"};

// The rows of `list` summed where these keys, of kUsageKeys, and the resource are equal; in their
// order. What gangs of Queues went through is told where the Queue is the only key.
[[nodiscard]] Json UsageBy(const Json& list, const std::vector<std::string>& keys);
// One row for each: total and recent in GPU-hours, or hours of slices; for Queues also how many
// gangs started, after what wait, and who had to leave.
[[nodiscard]] std::string UsageTable(const Json& usage, const std::vector<std::string>& keys);

}  // namespace maniple
