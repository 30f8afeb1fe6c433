// The pure decision: where does this gang go, or why can it not?
//
// A function of its input, without I/O, clock or locks; any thread. The same input gives the same
// answer, byte for byte.
//
//   const DecideInput input{.snapshot = *snapshot, .request = request, .now = now, .seed = seed};
//   std::visit(…, Decide(input, profile));  // Plan: reserve it as a whole; Rejection: park
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/time/time.h"
#include "plugins/framework/profile.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/question/quota_ask.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/room/room_cache.h"

namespace maniple {

// Room of one pod that is assumed gone, or of one hold that is taken for free.
struct FreedRoom {
  NodeId node;
  ShapeId shape;
  Occupant of = Occupant::kPod;
};

struct DecideInput {
  const Snapshot& snapshot;
  const GangRequest& request;
  absl::Time now;
  uint64_t seed = 0;
  const QuotaAsk* quota = nullptr;        // null: no quota applies
  std::span<const FreedRoom> freed = {};  // room only: its charges are in `quota` unless taken out
  std::span<const FreedRoom> promised = {};  // room that others will have, likewise
  RoomCache* cache = nullptr;  // of earlier decisions with this profile; changes no answer
};

[[nodiscard]] Decision Decide(const DecideInput& input, const Profile& profile);
// Finds the same plan as Decide, but no reasons where there is none: cheaper.
struct PlanSearch {
  std::optional<Plan> plan;
  bool gave_up = false;  // no plan, and no proof that there is none
};
[[nodiscard]] PlanSearch SearchPlan(const DecideInput& input, const Profile& profile);
[[nodiscard]] std::optional<Plan> FindPlan(const DecideInput& input, const Profile& profile);

}  // namespace maniple
