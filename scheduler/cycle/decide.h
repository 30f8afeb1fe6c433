// The pure decision: where does this gang go, or why can it not?
//
// A function of its input, without I/O, clock or locks; any thread. The same input gives the same
// answer, byte for byte.
//
//   const DecideInput input{.snapshot = *snapshot, .request = request, .now = now, .seed = seed};
//   std::visit(…, Decide(input, profile));  // Plan: reserve it as a whole; Rejection: park
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "plugins/framework/profile.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/decision.h"

namespace maniple {

struct DecideInput {
  const Snapshot& snapshot;
  const GangRequest& request;
  absl::Time now;
  uint64_t seed = 0;
};

[[nodiscard]] Decision Decide(const DecideInput& input, const Profile& profile);

}  // namespace maniple
