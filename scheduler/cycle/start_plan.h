// When and where could a gang start if no other gang did? A pure function, like Decide:
// it looks along the expected ends of running pods for the first moment at which the gang fits.
//
//   const auto start = PlanStart(input, releases, profile);
//   if (start.has_value()) …  // hold start->plan; tell start->at
//
// An answer promises:
//   1. With every pod gone that ends by `at`, FindPlan places the gang as `plan` says, in quota.
//   2. At no moment that was tried before `at` did it fit. For gangs of one shape, within quota,
//      fewer running pods never mean less room, so this holds for every earlier moment.
//   3. With EndIs::kKnown, it fits also if pods with an estimated end never end.
#pragma once

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "plugins/framework/profile.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/question/decision.h"

namespace maniple {

enum class EndIs : uint8_t {
  kKnown,      // as its owner said
  kEstimated,  // its owner said nothing; never a reason to let others pass
};

// One running pod, and when it is expected to end.
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

// `input.freed` is free at once. None: no known time lets it fit.
[[nodiscard]] std::optional<StartPlan> PlanStart(const DecideInput& input,
                                                 std::vector<Release> releases,
                                                 const Profile& profile);

}  // namespace maniple
