// The faults around a scheduler, how often each has struck, and the scheduler's state at the time.
//
// Every kind of fault draws from a random stream of its own.
// So a history in which a kind is switched off goes on as before in everything else,
// and failing histories can be shrunk. One thread.
//
//   FaultInjector faults(seed);
//   faults.set_rates(FaultRates::Some(seed));
//   if (faults.Strikes(Fault::kLostReply)) …            // by chance, or because it was awaited
//   faults.Note(Fault::kCordon);                        // the workload has chosen it
//
// Chance alone meets some states of a member hardly ever. So a history also lies in wait: it awaits
// some faults in some states (Await). Such a fault strikes as soon as a member is in that state.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/random.h"
#include "scheduler/bind/bind_state.h"

namespace maniple::sim {

enum class Fault : uint8_t {
  // The network and the API server: one chance per request or piece of a watch.
  kLostRequest,    // never arrives; the caller sees a broken connection
  kLostReply,      // takes effect; the caller sees a broken connection
  kHalfOpenReply,  // takes effect; the caller hears nothing until its timeout
  kLateWrite,      // takes effect seconds after the caller has given it up
  kConflict,       // 409 "the object has been modified", without effect
  kThrottled,      // 429 with Retry-After
  kServerError,    // 500, with or without effect
  kUnavailable,    // 503, without effect
  kBindForbidden,  // a bind is refused for ever: 403
  kBindForgotten,  // a bind is answered 201 and not done
  kWatchDropped,   // an open watch ends in the middle of a line
  kWatchDelayed,   // the pieces of a watch come seconds late
  kWatchRepeated,  // a piece of a watch comes twice
  kWatchStale,     // an old piece of a watch comes again, later than newer ones
  kWatchExpired,   // a watch ends with 410 as an event
  kHalfOpenWatch,  // nothing more ever comes on an open watch
  kSlowConsumer,   // a watch is not read for half a minute
  kStaleList,      // a list is answered from a cache older than an earlier answer
  kHistoryLost,    // restart on a compacted store: every watch is cut, every version expired
  kVersionsReset,  // restart on a restored store: versions begin anew, below all that were seen
  // The scheduler's process.
  kCrash,           // killed at some moment
  kCrashAfterSend,  // … right after a write has been sent
  kCrashAtReply,    // … as the reply to a write comes in
  kCrashAtRenewal,  // … as the Lease is written
  kCrashAtEvict,    // … as the first of several pods is asked to leave
  kPaused,          // stopped for a while and continued, its clock with it
  kHeldUp,          // its scheduling thread is held up before its decisions are sent
  kClockStep,       // a process begins with a wall clock that is minutes off
  kLeaseEdited,     // another holder is written into the Lease by hand
  kLeaseDeleted,    // the Lease is deleted
  kLeaseGarbage,    // the Lease is filled with nonsense
  // The cluster.
  kPodDeleted,        // a pod is deleted
  kPodReplaced,       // a pod is deleted and another has its name at once
  kPodFailed,         // a bound pod fails
  kKubeletRejects,    // … because its node rejects it
  kNodeLost,          // a node is deleted
  kNodeReborn,        // a node is deleted and comes back with another uid
  kNodeNotReady,      // a node is tainted as not ready, or ready again
  kCordon,            // a node is cordoned, or uncordoned
  kDrain,             // a node is cordoned and its pods are evicted
  kDevicesLost,       // a node offers fewer GPUs, or all of them again
  kGroupEdited,       // minMember is raised or lowered
  kGroupDeleted,      // a PodGroup is deleted under its pods, for a while or for good
  kGroupReplaced,     // … and another has its name at once
  kGroupOverwritten,  // a PodGroup's status is written by another
  kQueueEdited,       // a Queue is stopped or started again
  kForeignPod,        // another scheduler binds a pod of its own on our node
  kForeignBind,       // another scheduler binds our pod
  kCrdReinstalled,    // the CRD of the PodGroups is removed and installed again
  // Changes of what has been decided already (late_changes.h).
  kQuorumRaised,        // a gang is scaled up: minMember is raised, and more of its pods come
  kGangScaledDown,      // … or down: minMember is lowered, and some of its pods go
  kOwnerScaled,         // a job of another project's kind is scaled, up or down
  kClaimedQueueEdited,  // a Queue, while others leave for a gang of it
  // The deeds of a hostile tenant in its own namespace (hostile_tenant.h),
  // and the answers of the platform team.
  kTenantSubmits,    // gangs in Queues of others, never to be disturbed
  kTenantRelabels,   // a pod names another gang, sub-group or Queue
  kTenantEdits,      // a PodGroup asks for something else
  kTenantRemakes,    // a PodGroup is deleted under its pods and made anew in another Queue
  kTenantTakesNode,  // a pod names its node itself, and another's Queue
  kTenantShields,    // budgets that allow no eviction, protection for ten years
  kTenantGluts,      // pods that share nothing with others, and ask for all that can be asked
  kTenantFloods,     // one PodGroup is edited again and again
  kTenantForges,     // it writes fields that only a scheduler should
  kNamespaceEdited,  // Queues select the tenant's namespace, or do so no more, by its labels …
  kSelectorEdited,   // … or by their own words
};
inline constexpr int kFaults = 64;
inline constexpr Fault kFirstOfTenant = Fault::kTenantSubmits;
[[nodiscard]] absl::string_view FaultName(Fault fault);
// By its name; none when there is no such fault.
[[nodiscard]] std::optional<Fault> FaultNamed(absl::string_view name);

[[nodiscard]] absl::string_view BindStateName(BindState state);

// One chance in n for each opportunity; 0 = never. For faults that the workload chooses, any number
// but 0 lets it.
struct FaultRates {
  std::array<uint32_t, kFaults> one_in{};
  [[nodiscard]] uint32_t& of(Fault fault) { return one_in[static_cast<size_t>(fault)]; }
  [[nodiscard]] uint32_t of(Fault fault) const { return one_in[static_cast<size_t>(fault)]; }

  [[nodiscard]] static FaultRates None() { return {}; }
  // Every kind, at the rate that a history of some hundred steps bears.
  [[nodiscard]] static FaultRates Usual();
  // About half of the usual kinds, chosen by the seed: faults that hide each other also meet alone.
  [[nodiscard]] static FaultRates Some(uint64_t seed);
};

using FaultCounts = std::array<uint64_t, kFaults>;
// A set of BindState: bit n is state n.
using StateSet = uint32_t;
[[nodiscard]] inline StateSet SetOf(BindState state) { return 1U << static_cast<uint32_t>(state); }
// How often each fault struck while some member was in each state.
using Coverage = std::array<std::array<uint64_t, kBindStates>, kFaults>;

class FaultInjector final {
 public:
  explicit FaultInjector(uint64_t seed);

  void set_rates(const FaultRates& rates) { rates_ = rates; }
  [[nodiscard]] bool Enabled(Fault fault) const { return rates_.of(fault) != 0; }
  // Called at each strike, before its effect.
  void set_on_strike(std::function<void(Fault)> callback) { on_strike_ = std::move(callback); }

  // The fault strikes at its next opportunity while a member is in this state, if it is enabled.
  void Await(Fault fault, BindState state) { awaited_[static_cast<size_t>(fault)] |= SetOf(state); }
  // Awaits so many of all pairs, those of rare states more often, and a few always.
  void LieInWait(uint64_t seed, int ambushes);
  // `states` tells the present states of members.
  void set_states(std::function<StateSet()> states) { states_ = std::move(states); }
  // Some member is in a state in which the fault has been awaited.
  [[nodiscard]] bool Awaited(Fault fault) const;

  // By chance or awaited: drawn, counted, told.
  [[nodiscard]] bool Strikes(Fault fault);
  // Drawn by chance only; Note it when it takes effect.
  [[nodiscard]] bool Chosen(Fault fault);
  void Note(Fault fault);
  // The magnitude of a fault, from its own stream.
  [[nodiscard]] uint64_t Draw(Fault fault, uint64_t bound) { return StreamOf(fault).Below(bound); }
  [[nodiscard]] absl::Duration Between(Fault fault, absl::Duration least, absl::Duration most);

  [[nodiscard]] const FaultCounts& counts() const { return counts_; }

 private:
  Random& StreamOf(Fault fault) { return streams_[static_cast<size_t>(fault)]; }

  FaultRates rates_;
  std::vector<Random> streams_;  // by Fault
  FaultCounts counts_{};
  std::array<StateSet, kFaults> awaited_{};
  std::function<StateSet()> states_;
  std::function<void(Fault)> on_strike_;
};

}  // namespace maniple::sim
