// Making room: who may be made to leave for whom, and the plan of it.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/charges.h"
#include "scheduler/loop/desk.h"
#include "scheduler/loop/evictions.h"
#include "scheduler/loop/reversals.h"
#include "scheduler/loop/yielding_holds.h"

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

  // Others could leave for what it was refused for, as far as policies say.
  [[nodiscard]] bool MayPreempt(const Case& c, const Rejection& rejection) const;
  // Of its Queue.
  [[nodiscard]] bool PoliciesLetEvict(const Case& c) const;
  // Somebody may make it leave, or some of it.
  [[nodiscard]] static bool Stands(const Gang& gang, const GangRecord& record);
  [[nodiscard]] std::vector<GangId> GangsThatStand() const;
  // Those of them that its policy could reach at all, by name.
  [[nodiscard]] std::vector<RunningGang> RunningGangs(const Case& c, std::span<const GangId> stand);
  [[nodiscard]] RunningGang RunningGangOf(const Gang& gang, const GangRecord& record,
                                          absl::Time now);
  // Of those configured, the ones that it has not used up.
  [[nodiscard]] std::vector<FairStrategy> StrategiesOf(const Case& c) const;
  // None: others leave, and the room is the gang's.
  [[nodiscard]] std::optional<NoPreemption> MakeRoom(Case& c, const GangRequest& request,
                                                     const Rejection& rejection);
  [[nodiscard]] std::variant<PreemptionPlan, NoPreemption> PlanRoom(
      Case& c, const GangRequest& request, const std::vector<RunningGang>& running);
  // Of its Queue.
  [[nodiscard]] PreemptionPolicy PolicyOf(const Gang& gang) const;
  // Whether it, or more of it, can be made to leave now.
  void NoteEvictable(Case& c);
  // Keeps count of the gangs without a queue that could be evicted, by priority.
  void CountLoose(GangRecord& record, std::optional<int32_t> priority);
  // Somebody could leave for it, by policy or by priority.
  [[nodiscard]] bool HasVictims(const Case& c) const;

  // Somebody may evict again whom it was not to.
  void BanEnded() { more_victims_ = more_loose_ = true; }
  // It looks for victims, or would if there were some.
  void NoteBold(int32_t priority) { boldest_ = std::max(boldest_, priority); }
  // Since this was asked last, gangs of Queues have become victims …
  [[nodiscard]] bool TakeMoreVictims() { return std::exchange(more_victims_, false); }
  // … or gangs without one.
  [[nodiscard]] bool TakeMoreLoose() { return std::exchange(more_loose_, false); }

 private:
  // Of the Queue that it was admitted to, if that is there; else invalid, and it counts as one
  // without a Queue.
  [[nodiscard]] QuotaNodeId QueueOf(const GangRecord& record) const;
  [[nodiscard]] absl::Duration ProtectedRuntimeOf(const Gang& gang, const GangRecord& record) const;
  [[nodiscard]] PreemptionInput PreemptionInputOf(const Case& c, const DecideInput& input,
                                                  const std::vector<RunningGang>& running,
                                                  const std::vector<int32_t>& allowed);
  // What pods on their way out give back, and those of gangs that have been asked to leave.
  struct Leaving {
    OpenHolds open;
    absl::Duration longest_grace;
  };
  [[nodiscard]] Leaving WhatIsLeft();
  // Nobody has to leave for it: others do anyway, and that is enough.
  [[nodiscard]] bool LeavingMakesRoom(Case& c, const GangRequest& request);

  Desk& desk_;
  Charges& charges_;
  YieldingHolds& yielding_;
  Reversals& reversals_;
  Evictions& evictions_;
  // A gang of a Queue, or one without, or a member of it, can now be made to leave.
  bool more_victims_ = false, more_loose_ = false;
  // The highest priority of any gang that has looked for victims without a Queue.
  int32_t boldest_ = std::numeric_limits<int32_t>::min();
  std::map<int32_t, int64_t> loose_priorities_;
};

}  // namespace maniple
