// Units of a gang, the hosts of one replica, that start and leave together or not at all also
// beyond the quorum (ForeignGang::unit_sizes).
//
// Pure functions of a gang, of a request for surplus members, and of its plan.
//
//   MarkUnits(gang, request);               // incomplete ones are not asked for
//   if (auto* plan = …) DropPartOfUnits(request, *plan);
//   for (const GangRequest& one : RequestsForOneUnit(request)) …  // if nothing is left of it
#pragma once

#include <vector>

#include "queue/gang.h"
#include "scheduler/cycle/question/decision.h"

namespace maniple {

// Gives each want of a unit the unit's number, and takes out wants of units that lack members which
// do not exist yet. A unit some of whose members stand already asks for the rest at once.
void MarkUnits(const Gang& gang, GangRequest& request);

// By member of the gang: the number of its unit, which leaves as it came; -1: it is of none.
// Empty: nobody is of any.
[[nodiscard]] std::vector<int32_t> UnitsOf(const Gang& gang);

// Takes placements out of units that the plan does not place whole.
void DropPartOfUnits(const GangRequest& request, Plan& plan);

// The first unit of each sub-group, each as a question of its own: whole or not at all.
[[nodiscard]] std::vector<GangRequest> RequestsForOneUnit(const GangRequest& request);

}  // namespace maniple
