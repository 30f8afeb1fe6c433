// The choice of victims so that a gang can start: a pure function, like Decide.
// It is asked only when Decide found no plan without victims.
//
// Nothing is evicted here. The answer is a placement and the gangs (or surplus members) that stand
// in its way, or why no eviction helps. Deterministic; any thread.
//
//   const auto answer = PlanPreemption({.decide = input, .profile = profile, .priority = …});
//   if (const auto* plan = std::get_if<PreemptionPlan>(&answer)) …  // evict, then hold plan->plan
//
// A plan promises:
//   1. With the victims gone, FindPlan places the gang where `plan` says, within quota.
//   2. Each victim may be taken by the policies, also as the final plan leaves the shares.
//   3. No victim can be spared: without any one of them 1 or 2 would not hold. (A greedy search
//      keeps the victims for which it has no whole decisions left.)
//   4. It is the cheapest that the search saw (victim_search.h); of few candidates it sees all.
//      Where nodes of one flavor differ in price, it is the cheapest of those for each price.
//   5. No budget is overdrawn, unless `ignore_pdb` lets it be and no plan was found without.
#pragma once

#include <variant>

#include "scheduler/cycle/victims/preemption_question.h"

namespace maniple {

[[nodiscard]] std::variant<PreemptionPlan, NoPreemption> PlanPreemption(
    const PreemptionInput& input);

}  // namespace maniple
