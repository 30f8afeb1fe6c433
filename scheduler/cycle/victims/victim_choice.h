// Victims that suffice, and the possible use of each unit:
// values that the searches for victims hand to each other.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/victims/victim_policy.h"
#include "scheduler/cycle/victims/victim_units.h"

namespace maniple {

struct VictimChoice {
  std::vector<size_t> units;  // ascending
  Plan plan;
  Justification why;
  VictimCost cost;
};

// The possible use of each unit, seen from all units of the contest being gone.
struct UnitUse {
  bool room = false;   // a node that would take more members
  bool quota = false;  // charged to cells that the queue is short of
  bool share = false;  // charged to contested cells; its leaving can make others legal
};

}  // namespace maniple
