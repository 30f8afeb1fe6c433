// The places of a gang's members as far as the loop knows, ahead of the watch or not, and the
// standing of a gang in flight. Functions of a gang in hand.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "queue/assembly.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/quota/loop_case.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

// Counts members that are bound by our own word as bound.
[[nodiscard]] Assembly KnownAssembly(const Case& c);
// The node of a bound member; "" = it is not bound.
[[nodiscard]] std::string NodeOf(const Case& c, const Member& member, const ClusterState& state);
[[nodiscard]] std::vector<std::string> NodesOf(const Case& c, const ClusterState& state);

// What is wrong with the gang's declaration, as people are told it; "" = nothing. Where another
// object has declared the gang, and no live pod is left, nobody has made a mistake: it has ended,
// or its pods are to be made again.
[[nodiscard]] absl::string_view ProblemToTell(const Gang& gang);
// It had failed when its pods were cleaned away, and nobody has made others.
[[nodiscard]] bool StaysFailed(const Gang& gang);

// REQUIRES: the gang is in flight.
[[nodiscard]] Standing StandingInFlight(const Case& c, const Desk& desk);

}  // namespace maniple
