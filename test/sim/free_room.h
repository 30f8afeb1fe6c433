// Free GPUs, as far as they can be known. Pure functions of the Truth.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "test/sim/truth.h"

namespace maniple::sim {

using GangNames = std::set<std::string>;

// The most that may seem free on the node to a leader, were the pods of `without` not there.
[[nodiscard]] int64_t MostFree(const Truth& truth, const std::string& node,
                               const std::set<std::string>& without, absl::Time now);
// Of nodes that take new pods, as the API shows them; were the pods of these gangs not there.
[[nodiscard]] std::map<std::string, int64_t> FreeGpus(const Truth& truth,
                                                      const GangNames& without = {});

}  // namespace maniple::sim
