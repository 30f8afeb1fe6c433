// Victims that suffice, and what each unit could be good for: what the searches for victims hand to
// each other. Plain values.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/cycle/decision.h"
#include "scheduler/cycle/victim_policy.h"
#include "scheduler/cycle/victim_units.h"

namespace maniple {

struct VictimChoice {
  std::vector<size_t> units;  // ascending
  Plan plan;
  Justification why;
  VictimCost cost;
};

// What each unit could be good for, from all units of the contest being gone.
struct UnitUse {
  bool room = false;   // a node that would take more members
  bool quota = false;  // charged for what the queue is short of
  bool share = false;  // charged for what is contested; its leaving can make others legal
};

}  // namespace maniple
