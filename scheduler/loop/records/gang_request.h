// From a gang and its flight to the question for Decide;
// from the answer to what the gang then waits for.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "queue/gang.h"
#include "queue/gang_queue.h"
#include "scheduler/bind/gang_binding.h"
#include "scheduler/cycle/question/decision.h"

namespace maniple {

struct RequestInput {
  const Gang& gang;
  const GangBinding* binding = nullptr;  // null: the gang is not in flight
  ItemKind kind = ItemKind::kQuorum;
  std::vector<HoldId> holds;
  std::vector<PromisedRoom> outranked;
};
// A repair asks for as much of the lacking quorum as the members that exist can fill; its `need`
// may come out as Met(), and then there is nothing to ask. `may_plan` says no to members set aside.
[[nodiscard]] GangRequest RequestFor(const RequestInput& input,
                                     absl::FunctionRef<bool(PodId)> may_plan);

[[nodiscard]] absl::string_view ItemName(ItemKind kind);

// The rejection is for lack of room or quota now, and more of these may help one day.
[[nodiscard]] bool MoreRoomMayHelp(const Decision& decision);

// What could make the request fit. `cool_end`: when the next node that cools down is back.
[[nodiscard]] ParkFacts ParkFactsFor(const GangRequest& request, const Rejection& rejection,
                                     absl::Time cool_end);

// While it stays equal, so does the answer: it covers everything of the gang that Decide or the
// queue looks at.
[[nodiscard]] uint64_t FingerprintOf(const Gang& gang);
// While it stays equal, a plan that was made is still of the kind that is asked for, whoever comes
// or goes.
[[nodiscard]] uint64_t FingerprintOfAsk(const PodGroupSpec& spec);

}  // namespace maniple
