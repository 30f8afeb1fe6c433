// When could a gang start if nobody else did, and where? A pure function, like Decide: it looks
// along the expected ends of what runs for the first moment at which the gang fits.
//
//   const auto start = PlanStart(input, releases, profile);
//   if (start.has_value()) …  // hold start->plan; tell start->at
//
// What an answer promises:
//   1. With everything gone that ends by `at`, FindPlan places the gang as `plan` says, in quota.
//   2. At none of the moments that were tried before `at` did it fit. That is every earlier moment
//      where less of what runs never makes more fit less: so for gangs of one shape, within quota.
//   3. With `known`, it fits also if whatever has an estimated end never ends.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "plugins/framework/profile.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/decision.h"

namespace maniple {

enum class EndIs : uint8_t {
  kKnown,      // as its owner said
  kEstimated,  // nobody said; never a reason to let others pass
};

// One pod that runs, and when it is expected to end.
struct Release {
  absl::Time at;
  EndIs end = EndIs::kKnown;
  FreedRoom room;
  QuotaNodeId queue;  // that it is charged to; invalid: none
  Demand charge;
};

struct StartPlan {
  absl::Time at;  // never before `now`
  EndIs end = EndIs::kKnown;
  Plan plan;
};

// `input.freed` is free at once. None: it fits at no time, as far as is known.
[[nodiscard]] std::optional<StartPlan> PlanStart(const DecideInput& input,
                                                 std::vector<Release> releases,
                                                 const Profile& profile);

}  // namespace maniple
