// The question and the answer of PlanPreemption (preemption.h). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "api/model/maniple_types.h"
#include "plugins/framework/profile.h"
#include "queue/quota_tree.h"
#include "queue/tournament.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/victims/victim_surplus.h"

namespace maniple {

// One pod of a running gang, with its place and its charge.
struct VictimPod {
  PodId pod;
  NodeId node;
  ShapeId shape;
  int32_t sub_group = -1;              // position in spec.subGroups; -1: in none
  Demand charge = {};                  // to its gang's Queue; empty: none
  std::vector<uint32_t> budgets = {};  // PodDisruptionBudgets over it: indices into the input's
  int32_t unit = -1;                   // surplus members of one unit leave together; -1: by itself
};

struct RunningGang {
  GangId gang;
  std::string name;   // "namespace/name", for ties and messages
  QuotaNodeId queue;  // invalid: none
  int32_t priority = 0;
  absl::Time queued;                                  // for LowerOrNewerEqualPriority
  absl::Time started;                                 // lost run time counts from here
  absl::Time protected_until = absl::InfinitePast();  // no victim before
  std::optional<absl::Time> known_end = {};           // for the advice on what would help
  std::vector<VictimPod> members;                     // bound ones, in rank order
  Surplus surplus = {};  // of the members: so many may go, wherever they stand; else all go
  // Room and charge held for members that the gang has lost, or is to get: given back when all go.
  std::vector<FreedRoom> held = {};
  Demand held_charge = {};
};

struct PreemptionPolicy {  // of the preemptor's Queue
  WithinQueuePreemption within = WithinQueuePreemption::kNever;
  ReclaimWithinCohort reclaim = ReclaimWithinCohort::kNever;
  bool borrowing_preempts_lower = false;         // borrowWithinCohort: LowerPriority
  std::optional<int32_t> borrow_threshold = {};  // maxPriorityThreshold
};

// How a victim of another Queue may be taken by share. The preemptor's side,
// with the gang, may be at most at the remaining share of the victim's side;
// or below the victim's side's share with the victim.
enum class FairStrategy : uint8_t { kLessThanOrEqualToFinalShare, kLessThanInitialShare };

// When more may leave than PodDisruptionBudgets allow, if nothing else helps: when nominal quota is
// taken back from a borrower, or always.
enum class IgnorePdb : uint8_t { kNever, kReclaim, kAlways };

// When gangs of the preemptor's own Queue may be victims. A gang that others have reclaimed from
// before must not take them in order to borrow again. Otherwise two Queues could take turns for
// ever, each reclaiming the other's borrowing over its own less important work.
enum class OwnVictims : uint8_t { kAlways, kWithinNominal };

struct PreemptionInput {
  const DecideInput& decide;  // snapshot, request, now, seed, quota (null: the gang has no Queue)
  const Profile& profile;
  int32_t priority = 0;  // of the preemptor
  absl::Time queued;
  PreemptionPolicy policy;  // for gangs with a Queue; among others lower priority alone decides
  FairSharing fair_sharing = FairSharing::kOn;
  std::vector<FairStrategy> strategies;  // those that the preemptor may use now, in this order
  OwnVictims own_victims = OwnVictims::kAlways;
  IgnorePdb ignore_pdb = IgnorePdb::kNever;
  std::span<const RunningGang> running;   // by name
  std::span<const int32_t> allowed = {};  // disruptionsAllowed, by budget
};

enum class VictimCause : uint8_t {  // named as Kueue names them, but for the first
  kWithoutQueue,
  kInQueue,
  kInCohortReclamation,
  kInCohortFairSharing,
  kInCohortReclaimWhileBorrowing,
};
struct Victim {
  size_t running = 0;       // index into the input's
  std::vector<PodId> pods;  // everything of the gang, or surplus members only
  VictimCause cause = VictimCause::kInQueue;
  bool past_budgets = false;  // it leaves even if its budgets refuse
};
struct PreemptionPlan {
  Plan plan;                    // where the gang goes once they are gone
  std::vector<Victim> victims;  // by (running)
  bool used_initial_share = false;
};
struct NoPreemption {
  // For `explain`: how many gangs could be victims at all,
  // and the cheapest reason why that does not help.
  int64_t candidates = 0;
  std::string message;
};

}  // namespace maniple
