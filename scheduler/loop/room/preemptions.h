// Making room: the gangs that may be evicted for another, and the plan for it.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/reversals.h"
#include "scheduler/loop/desk/yielding_holds.h"
#include "scheduler/loop/room/evictions.h"

namespace maniple {

class Preemptions final {
 public:
  Preemptions(Desk& desk, Charges& charges, YieldingHolds& yielding, Reversals& reversals,
              Evictions& evictions)
      : desk_(desk),
        charges_(charges),
        yielding_(yielding),
        reversals_(reversals),
        evictions_(evictions) {}

  // As far as policies say, others could leave so that the refused request fits.
  [[nodiscard]] bool MayPreempt(const Case& c, const Rejection& rejection) const;
  // By the policies of the gang's Queue.
  [[nodiscard]] bool PoliciesLetEvict(const Case& c) const;
  // The gang, or some of its members, may be evicted.
  [[nodiscard]] static bool Stands(const Gang& gang, const GangRecord& record);
  [[nodiscard]] std::vector<GangId> GangsThatStand() const;
  // The gangs of `stand` that the policy of `c` could reach at all, by name.
  [[nodiscard]] std::vector<RunningGang> RunningGangs(const Case& c, std::span<const GangId> stand);
  [[nodiscard]] RunningGang RunningGangOf(const Gang& gang, const GangRecord& record,
                                          absl::Time now);
  enum class RoomMade : uint8_t {
    kVictimsLeave,  // and their room is the gang's
    kHoldsYield,    // what they held for members they have lost is enough: to be decided again
  };
  [[nodiscard]] std::variant<RoomMade, NoPreemption> MakeRoom(Case& c, const GangRequest& request,
                                                              const Rejection& rejection);
  [[nodiscard]] std::variant<PreemptionPlan, NoPreemption> PlanRoom(
      Case& c, const GangRequest& request, const std::vector<RunningGang>& running,
      const LeavingPods& leaving);
  // Room and quota that return without any eviction for the gang; nothing, if it has waited for
  // that in vain.
  [[nodiscard]] LeavingPods LeavingToAwait(Case& c);
  // Notes whether the gang, or more of it, can be evicted now.
  void NoteEvictable(Case& c);
  // Keeps count of the gangs without a queue that could be evicted, by priority.
  void CountLoose(GangRecord& record, std::optional<int32_t> priority);
  // Some gang could leave for it, by policy or by priority.
  [[nodiscard]] bool HasVictims(const Case& c) const;

  // Some gang may again evict another that it was forbidden to evict.
  void BanEnded() { more_victims_ = more_loose_ = true; }
  // The gang looks for victims, or would if there were some.
  void NoteBold(int32_t priority) { boldest_ = std::max(boldest_, priority); }
  // Since the last call, gangs of Queues have become victims …
  [[nodiscard]] bool TakeMoreVictims() { return std::exchange(more_victims_, false); }
  // … or gangs without a Queue.
  [[nodiscard]] bool TakeMoreLoose() { return std::exchange(more_loose_, false); }

 private:
  // The Queue that the gang was admitted to, if it exists; else invalid, and the gang counts as one
  // without a Queue.
  [[nodiscard]] QuotaNodeId QueueOf(const GangRecord& record) const;
  [[nodiscard]] absl::Duration ProtectedRuntimeOf(const Gang& gang, const GangRecord& record) const;
  [[nodiscard]] PreemptionInput PreemptionInputOf(const Case& c, const DecideInput& input,
                                                  const std::vector<RunningGang>& running,
                                                  const std::vector<int32_t>& allowed);
  [[nodiscard]] static bool Leaves(const Member& member, const GangRecord& record);
  [[nodiscard]] LeavingPods WhatIsLeft(GangId to);
  [[nodiscard]] bool LeavingMakesRoom(Case& c, const GangRequest& request,
                                      const LeavingPods& leaving);
  [[nodiscard]] LeavingPods AwaitedFor(const Case& c, const GangRequest& request,
                                       const PreemptionPlan& plan,
                                       const LeavingPods& leaving) const;

  Desk& desk_;
  Charges& charges_;
  YieldingHolds& yielding_;
  Reversals& reversals_;
  Evictions& evictions_;
  // A gang of a Queue, or one without, or a member of it, can now be evicted.
  bool more_victims_ = false, more_loose_ = false;
  // The highest priority of any gang that has looked for victims without a Queue.
  int32_t boldest_ = std::numeric_limits<int32_t>::min();
  std::map<int32_t, int64_t> loose_priorities_;
};

}  // namespace maniple
