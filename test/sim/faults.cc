#include "test/sim/faults.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace maniple::sim {
namespace {

struct Known {
  Fault fault;
  absl::string_view name;
  uint32_t one_in;  // usual rate
};

// In order of Fault.
constexpr Known kKnownFaults[] = {
    {Fault::kLostRequest, "lost-request", 60},
    {Fault::kLostReply, "lost-reply", 60},
    {Fault::kHalfOpenReply, "half-open-reply", 150},
    {Fault::kLateWrite, "late-write", 100},
    {Fault::kConflict, "conflict", 60},
    {Fault::kThrottled, "throttled", 80},
    {Fault::kServerError, "server-error", 80},
    {Fault::kUnavailable, "unavailable", 80},
    {Fault::kBindForbidden, "bind-forbidden", 60},
    {Fault::kBindForgotten, "bind-forgotten", 100},
    {Fault::kWatchDropped, "watch-dropped", 60},
    {Fault::kWatchDelayed, "watch-delayed", 60},
    {Fault::kWatchRepeated, "watch-repeated", 40},
    {Fault::kWatchStale, "watch-stale", 40},
    {Fault::kWatchExpired, "watch-expired", 200},
    {Fault::kHalfOpenWatch, "half-open-watch", 250},
    {Fault::kSlowConsumer, "slow-consumer", 200},
    {Fault::kStaleList, "stale-list", 4},
    {Fault::kHistoryLost, "history-lost", 500},
    {Fault::kVersionsReset, "versions-reset", 600},
    {Fault::kCrash, "crash", 60},
    {Fault::kCrashAfterSend, "crash-after-send", 150},
    {Fault::kCrashAtReply, "crash-at-reply", 150},
    {Fault::kCrashAtRenewal, "crash-at-renewal", 40},
    {Fault::kCrashAtEvict, "crash-at-evict", 12},
    {Fault::kPaused, "paused", 60},
    {Fault::kHeldUp, "held-up", 60},
    {Fault::kClockStep, "clock-step", 2},
    {Fault::kLeaseEdited, "lease-edited", 80},
    {Fault::kLeaseDeleted, "lease-deleted", 80},
    {Fault::kLeaseGarbage, "lease-garbage", 80},
    {Fault::kPodDeleted, "pod-deleted", 40},
    {Fault::kPodReplaced, "pod-replaced", 40},
    {Fault::kPodFailed, "pod-failed", 40},
    {Fault::kKubeletRejects, "kubelet-rejects", 40},
    {Fault::kNodeLost, "node-lost", 60},
    {Fault::kNodeReborn, "node-reborn", 60},
    {Fault::kNodeNotReady, "node-not-ready", 60},
    {Fault::kCordon, "cordon", 60},
    {Fault::kDrain, "drain", 60},
    {Fault::kDevicesLost, "devices-lost", 60},
    {Fault::kGroupEdited, "group-edited", 40},
    {Fault::kGroupDeleted, "group-deleted", 80},
    {Fault::kGroupReplaced, "group-replaced", 80},
    {Fault::kGroupOverwritten, "group-overwritten", 60},
    {Fault::kQueueEdited, "queue-edited", 60},
    {Fault::kForeignPod, "foreign-pod", 60},
    {Fault::kForeignBind, "foreign-bind", 15},
    {Fault::kCrdReinstalled, "crd-reinstalled", 200},
    {Fault::kQuorumRaised, "quorum-raised", 30},
    {Fault::kGangScaledDown, "gang-scaled-down", 60},
    {Fault::kOwnerScaled, "owner-scaled", 12},
    {Fault::kClaimedQueueEdited, "claimed-queue-edited", 3},
    {Fault::kTenantSubmits, "tenant-submits", 15},
    {Fault::kTenantRelabels, "tenant-relabels", 15},
    {Fault::kTenantEdits, "tenant-edits", 20},
    {Fault::kTenantRemakes, "tenant-remakes", 25},
    {Fault::kTenantTakesNode, "tenant-takes-node", 25},
    {Fault::kTenantShields, "tenant-shields", 40},
    {Fault::kTenantGluts, "tenant-gluts", 40},
    {Fault::kTenantFloods, "tenant-floods", 80},
    {Fault::kTenantForges, "tenant-forges", 40},
    {Fault::kNamespaceEdited, "namespace-edited", 60},
    {Fault::kSelectorEdited, "selector-edited", 60},
};
static_assert(std::size(kKnownFaults) == kFaults);
static_assert(kKnownFaults[kFaults - 1].fault == static_cast<Fault>(kFaults - 1));
static_assert(static_cast<int>(BindState::kDeleting) == kBindStates - 1);

// In order of BindState: what part of the ambushes is laid for it.
constexpr uint64_t kAmbushWeights[] = {0, 2, 2, 0, 5, 8, 2, 0, 9, 2};
constexpr uint64_t kAllAmbushes = 30;
static_assert(std::size(kAmbushWeights) == kBindStates);

// Awaited always: what makes short states last, and what needs a second fault to happen.
constexpr std::pair<Fault, BindState> kAlwaysAwaited[] = {
    {Fault::kHalfOpenReply, BindState::kConfirming},
    {Fault::kHalfOpenReply, BindState::kOut},
    {Fault::kHalfOpenReply, BindState::kDeleting},
    {Fault::kSlowConsumer, BindState::kOut},
    {Fault::kWatchExpired, BindState::kOut},
    {Fault::kWatchExpired, BindState::kMisplaced},
    {Fault::kStaleList, BindState::kOut},
    {Fault::kStaleList, BindState::kMisplaced},
    {Fault::kVersionsReset, BindState::kOut},
    {Fault::kVersionsReset, BindState::kMisplaced},
    {Fault::kCrashAtRenewal, BindState::kReading},
    {Fault::kCrashAtRenewal, BindState::kOut},
    {Fault::kCrashAtRenewal, BindState::kMisplaced},
    {Fault::kCrashAtRenewal, BindState::kDeleting},
    {Fault::kBindForbidden, BindState::kWaiting},
    {Fault::kForeignBind, BindState::kGone},
    {Fault::kLeaseDeleted, BindState::kMisplaced},
    {Fault::kQuorumRaised, BindState::kMisplaced},
    {Fault::kGangScaledDown, BindState::kMisplaced},
    {Fault::kOwnerScaled, BindState::kMisplaced},
    {Fault::kTenantEdits, BindState::kMisplaced},
    {Fault::kTenantTakesNode, BindState::kMisplaced},
    {Fault::kTenantShields, BindState::kMisplaced},
    {Fault::kTenantFloods, BindState::kMisplaced},
    {Fault::kTenantForges, BindState::kMisplaced},
    {Fault::kTenantRemakes, BindState::kMisplaced},
    {Fault::kSelectorEdited, BindState::kMisplaced},
};

// One history in four has a hostile tenant.
bool HasTenant(uint64_t seed) { return Random(seed * 86028121 + 23).OneIn(4); }

constexpr auto kOfTenant = static_cast<size_t>(kFirstOfTenant);

}  // namespace

absl::string_view FaultName(Fault fault) { return kKnownFaults[static_cast<size_t>(fault)].name; }

std::optional<Fault> FaultNamed(absl::string_view name) {
  for (const Known& known : kKnownFaults) {
    if (known.name == name) return known.fault;
  }
  return std::nullopt;
}

absl::string_view BindStateName(BindState state) {
  switch (state) {
    case BindState::kInFlight:
      return "in-flight";
    case BindState::kReading:
      return "reading";
    case BindState::kWaiting:
      return "waiting";
    case BindState::kBound:
      return "bound";
    case BindState::kConfirming:
      return "confirm";
    case BindState::kMisplaced:
      return "misplaced";
    case BindState::kRefused:
      return "refused";
    case BindState::kGone:
      return "gone";
    case BindState::kOut:
      return "out";
    case BindState::kDeleting:
      return "deleting";
  }
  return "";
}

FaultRates FaultRates::Usual() {
  FaultRates rates;
  for (const Known& known : kKnownFaults) rates.of(known.fault) = known.one_in;
  return rates;
}

FaultRates FaultRates::Some(uint64_t seed) {
  FaultRates rates = Usual();
  Random random(seed * 0x9e3779b97f4a7c15ULL + 17);
  // Every eighth history has them all.
  if (!random.OneIn(8)) {
    for (uint32_t& one_in : rates.one_in) {
      if (random.OneIn(2)) one_in = 0;
    }
  }
  if (!HasTenant(seed)) std::ranges::fill(std::span(rates.one_in).subspan(kOfTenant), 0);
  return rates;
}

FaultInjector::FaultInjector(uint64_t seed) {
  Random seeds(seed);
  for (int i = 0; i < kFaults; ++i) streams_.emplace_back(seeds.Next());
}

bool FaultInjector::Chosen(Fault fault) {
  const uint32_t one_in = rates_.of(fault);
  return one_in != 0 && StreamOf(fault).OneIn(one_in);
}

void FaultInjector::LieInWait(uint64_t seed, int ambushes) {
  for (const auto& [fault, state] : kAlwaysAwaited) Await(fault, state);
  Random random(seed);
  for (int i = 0; i < ambushes; ++i) {
    const auto fault = static_cast<Fault>(random.Below(kFaults));
    uint64_t at = random.Below(kAllAmbushes);
    size_t state = 0;
    for (; at >= kAmbushWeights[state]; ++state) at -= kAmbushWeights[state];
    Await(fault, static_cast<BindState>(state));
  }
}

bool FaultInjector::Awaited(Fault fault) const {
  const StateSet awaited = awaited_[static_cast<size_t>(fault)];
  return awaited != 0 && Enabled(fault) && states_ && (awaited & states_()) != 0;
}

bool FaultInjector::Strikes(Fault fault) {
  if (!Chosen(fault) && !Awaited(fault)) return false;
  Note(fault);
  return true;
}

void FaultInjector::Note(Fault fault) {
  ++counts_[static_cast<size_t>(fault)];
  StateSet& awaited = awaited_[static_cast<size_t>(fault)];
  if (awaited != 0 && states_) awaited &= ~states_();
  if (on_strike_) on_strike_(fault);
}

absl::Duration FaultInjector::Between(Fault fault, absl::Duration least, absl::Duration most) {
  return least + (most - least) * StreamOf(fault).Unit();
}

}  // namespace maniple::sim
