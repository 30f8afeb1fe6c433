// Where the members of a gang are as far as the loop knows, ahead of the watch or not, and how one
// in flight stands. Functions of a gang in hand.
#pragma once

#include <string>
#include <vector>

#include "queue/assembly.h"
#include "scheduler/loop/desk.h"
#include "scheduler/loop/loop_case.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

// Counts who is bound by our own word as bound.
[[nodiscard]] Assembly KnownAssembly(const Case& c);
// Of a member that is bound; "" = it is not.
[[nodiscard]] std::string NodeOf(const Case& c, const Member& member, const ClusterState& state);
[[nodiscard]] std::vector<std::string> NodesOf(const Case& c, const ClusterState& state);

// REQUIRES: the gang is in flight.
[[nodiscard]] Standing StandingInFlight(const Case& c, const Desk& desk);

}  // namespace maniple
