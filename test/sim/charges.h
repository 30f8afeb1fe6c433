// What Queues are charged with, as far as a process can know. Pure functions of the Truth.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "test/sim/quota_truth.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// The knowledge of a process that has led for so long: without binds of others since,
// and without the Queues of PodGroups that were gone before.
struct Since {
  absl::Time others_bound = absl::InfiniteFuture(), leads = absl::InfinitePast();
};

// The charge for the tenant's pods is open to doubt where others bound them, or a new leader goes
// by the tenant's edits.
enum class Doubt : uint8_t { kInFavour, kAgainst };  // … of who would like to use what is left

[[nodiscard]] bool MayBeKnown(const Truth& truth, const PodFacts& pod, const Since& since);
// By who has bound it itself; by a new leader only what no tenant can have written, and where
// nothing has said otherwise since.
[[nodiscard]] bool IsChargedForCertain(const Truth& truth, const PodFacts& pod, const Since& since);
// The Queues that may be charged with it.
[[nodiscard]] std::vector<std::string> QueuesOf(const Truth& truth, const PodFacts& pod,
                                                const Since& since, Doubt doubt);
// By bound pods, but for the pods of these gangs.
[[nodiscard]] QuotaTruth::Usage UsageKnown(const Truth& truth, const Since& since, Doubt doubt,
                                           const std::set<std::string>& without = {});

}  // namespace maniple::sim
