// The loop's record of one gang, beside the gang itself. Nothing here has to survive a restart: the
// PodGroup's status holds what must be remembered. Owned by the scheduling loop.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/rare.h"
#include "queue/gang_queue.h"
#include "scheduler/bind/gang_binding.h"
#include "scheduler/bind/gang_volumes.h"
#include "scheduler/loop/records/eviction.h"
#include "scheduler/loop/records/help_note.h"
#include "scheduler/loop/records/left_for.h"
#include "scheduler/loop/records/node_charges.h"
#include "scheduler/loop/records/node_request.h"
#include "scheduler/loop/records/reservation.h"
#include "scheduler/loop/records/stand_in_work.h"
#include "scheduler/loop/records/waiting_for.h"
#include "scheduler/report/reason.h"
#include "scheduler/report/status.h"

namespace maniple {

// Room and quota for the replacement of a lost member. Where no room can be held, the quota is.
struct HeldVacancy {
  HoldId hold;      // invalid: no room is held
  NodeId node;      // invalid: it is gone, and the hold with it
  NodeKindId kind;  // by which it is charged where the node does not tell
  Vacancy vacancy;
  [[nodiscard]] bool HasRoom() const { return hold.valid() && node.valid(); }
};

// The kind of node by which a pod is charged, also when its node is gone.
struct ChargedAs {
  PodId pod;
  NodeKindId kind;
};

// The gang had to leave: its reason stays until it has members that are none of these.
struct Evicted {
  std::set<PodId> members;
  WaitReason reason = WaitReason::kPreempted;
  std::string why;  // "preempted by default/b"
};
inline constexpr absl::string_view kQuorumWasLost = "quorum was lost";
inline constexpr absl::string_view kStageWasLate =
    "pods that came after its start were not bound in time";

// A status that could not be written, until one can.
struct StatusFailure {
  std::string over_version;  // not tried again before `until`, unless the watch shows a later one
  absl::Time until = absl::InfinitePast();
  Backoff backoff{{.first = absl::Milliseconds(200), .most = absl::Seconds(10)}};
};

// The last status sent, until the watch shows what became of it.
struct SentStatus {
  PodGroupStatus status;
  std::string over_version;  // the resourceVersion that it was written over
  std::string made_version;  // … and the one that it made; "" = not known
  bool under_way = false;
};

// The memory of searches that were long, or gave up (search_shares.h).
struct SearchMemory {
  int64_t steps = 0;                           // of the last one; 0: it was short
  std::optional<absl::Time> slot = {};         // when it may search for long
  absl::Time again_at = absl::InfinitePast();  // after one that gave up
  std::optional<Backoff> backoff = {};         // since the last one that did not
};

struct GangRecord {
  explicit GangRecord(absl::Time now) : first_seen(now) {}
  [[nodiscard]] bool LeavesWhole() const { return departure.has_value() && departure->whole; }

  // The node on which the pod is reserved while its gang's volumes are being bound; else none.
  [[nodiscard]] std::optional<NodeId> PlaceWhileVolumesAreBound(PodId pod) const {
    if (!volumes.has_value()) return std::nullopt;
    for (const Placement& placement : volumes->placements()) {
      if (placement.pod == pod) return placement.node;
    }
    return std::nullopt;
  }

  absl::Time first_seen;
  uint64_t group = 0, recalled = 0;  // fingerprints of PodGroups: its own, the one last read

  // Written by Flights.
  Rare<GangBinding> binding;
  Rare<GangVolumes> volumes;                   // before the members that it places are bound
  bool volumes_are_surplus = false;            // … and these are beyond the quorum
  uint64_t volumes_asked = 0;                  // a fingerprint of what was asked for then
  std::optional<absl::Time> volumes_again_at;  // nothing is decided before
  Rare<std::string> volume_trouble;            // … because of this
  RareVector<HeldVacancy> holds;
  RareVector<PodId> yielded;  // lost members for whom nothing is held any more: others came before
  RareVector<GangBinding::Known> bound;              // as of the last look
  absl::btree_map<PodId, absl::Time> refused_until;  // members that were refused as surplus
  RareVector<std::string> domains;                   // of the quorum's plan
  std::optional<absl::Time> quorum_reached_at, last_undone_at;
  int32_t quorum_met = 0;         // its size when it was last met; 0: not known
  RareVector<int32_t> parts_met;  // … and of each sub-group; empty: not known
  bool awaits_ready = false;      // this process has bound its quorum, which has not been Ready yet
  // When its quorum was last decided, and when it last had to leave whole; the past: never.
  absl::Time decided_at = absl::InfinitePast(), left_at = absl::InfinitePast();
  Rare<Backoff> undo_backoff;  // since the quorum was bound last
  absl::Time backoff_until = absl::InfinitePast();
  Rare<std::string> undone_because;  // … of this; none: nothing is known
  Rare<Evicted> evicted;

  // Charges.
  RareVector<ChargedAs> charged_as;  // as of the last charge
  std::string queue;  // that it is charged to: the last one that its PodGroup named, should that go

  // Charges, Parking, and Leadership as it offers the gang's item.
  std::optional<ItemKind> queued;  // offered, and neither started nor removed since
  uint64_t fingerprint = 0;        // of what was offered
  QuotaNodeId order_queue;         // of the order that the queue has
  Demand order_demand;             // … likewise
  uint64_t order_epoch = 0;        // of Charges, when it was made
  bool order_is_only = false;      // there is no flavor in which it would charge anything else
  // It is parked, and would be refused again for as long as its Queue cannot cover order_demand.
  bool waits_for_demand = false;
  WaitingForPtr waiting, surplus_waiting;  // null: nothing is known

  // Searches.
  Rare<SearchMemory> search;  // none: searches for it are short

  // Claims, Evictions and Preemptions.
  Rare<Claim> claim;
  Rare<Departure> departure;
  std::optional<int32_t> loose_priority;            // as Preemptions has counted it
  std::optional<absl::Time> leaving_awaited_since;  // it evicts nobody since: others leave anyway
  absl::Time no_preemption_until = absl::InfinitePast();
  int starts_in_vain = 0;  // since its quorum was bound last: room was there, and it did not start
  absl::Time victims_later = absl::InfiniteFuture();  // when the next victim's protection ends
  Rare<Evictable> evictable;                          // as of the last look; none: nothing of it
  bool initial_share_used = false;
  Rare<std::vector<LeftFor>> left_for;  // status.preemptedBy; Reversals

  // Reservations: room held for a later start, and room used that is held for others.
  Rare<Reservation> reservation;
  Rare<Backfill> backfill;
  absl::Duration was_head;  // before it left its line, since its quorum was bound last

  // StandIns: a gang that somebody else declares.
  Rare<StandInWork> stand_in;
  Rare<PhaseWork> phase;
  Rare<ToldCondition> told_condition;  // none: it has none, or nothing is known

  // NodeAsks.
  Rare<NodeRequest> node_request;
  absl::Time nodes_again_at = absl::InfinitePast();  // no request is made before
  Rare<HelpNote> help;                               // HelpNotes

  // Reporter.
  bool told_passed_over = false, told_priority = false;
  Rare<SentStatus> sent;      // none: the watch shows what was written, or what has taken its place
  bool wrote_status = false;  // … and none has failed since
  bool status_taken = false;  // some has: the watch shows no earlier leader's word any more
  absl::Time status_written = absl::InfinitePast();
  Rare<StatusFailure> status_failure;
  absl::Time status_due = absl::InfiniteFuture();
  struct Told {
    absl::string_view reason;  // last sent to a waiting pod
    uint64_t words = 0;        // a fingerprint of why, without numbers, and of the node beside it
    absl::Time at;
    bool nominated = false;  // with a node's name
  };
  absl::btree_map<PodId, Told> told;
  std::optional<WaitReason> last_reason;  // of its standing, as far as this leader has seen it
};

}  // namespace maniple
