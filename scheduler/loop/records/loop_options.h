// The options of a SchedulingLoop, and its counters.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/duration_histogram.h"
#include "api/client/right.h"
#include "api/model/object.h"
#include "plugins/framework/profile.h"
#include "queue/tournament.h"
#include "scheduler/cycle/victims/preemption.h"
#include "scheduler/loop/records/node_request.h"
#include "scheduler/loop/records/search_shares.h"
#include "scheduler/mig/mig_fleet.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

enum class PerPodEvents : uint8_t { kAuto, kAlways, kNever };

// May gangs without a Queue, and so under no quota, start?
enum class WithoutQueue : uint8_t { kAllow, kRefuse };

// Kinds of foreign groups whose status is written.
struct ForeignStatuses {
  bool xk8s = true, volcano = true;
  [[nodiscard]] bool Writes(ForeignStatusTarget::Dialect dialect) const {
    return dialect == ForeignStatusTarget::Dialect::kXk8s ? xk8s : volcano;
  }
};

struct LoopOptions {
  ForeignStatuses foreign_statuses;
  // Annotations that each pod gets with its node, for instance against autoscalers
  // that would move it.
  std::vector<std::pair<std::string, std::string>> binding_annotations;
  NodeRequestOptions node_requests;
  ClusterStateOptions state;
  Profile profile;
  std::string identity = "maniple-scheduler";  // reportingInstance of events
  uint64_t seed = 1;
  PerPodEvents per_pod_events = PerPodEvents::kAuto;
  FairSharing fair_sharing = FairSharing::kOn;
  std::vector<FairStrategy> fair_strategies = {FairStrategy::kLessThanOrEqualToFinalShare};
  IgnorePdb ignore_pdb = IgnorePdb::kNever;
  WithoutQueue without_queue = WithoutQueue::kAllow;
  // A gang that has been first in its Queue for so long gets room held for it.
  absl::Duration reservation_after = absl::Minutes(10);
  int32_t holds_per_cohort = 1;  // … at most so many in one tree of Cohorts
  int32_t decisions_per_turn = 64;
  SearchBudget search;
  // A turn applies so many events and then shows that it lives; no half batch is decided on.
  int64_t apply_work_per_turn = 4096;
  // A turn gathers so many gangs and pods for the question of what would help: some 0.2 ms
  // (bench/advice_bench.cc).
  size_t help_work_per_turn = 500;
  // Hears of each object before it is applied, so that a stall has a name. None: nobody listens.
  std::function<void(const ObjectKey&)> applies;
  // Measures the time that decisions take, and nothing else. None: nobody measures.
  std::function<absl::Time()> stopwatch;
  // No further gang is started while so many binds are under way:
  // a plan that waits in a queue of writes grows stale.
  int32_t max_binds_under_way = 512;
  absl::Duration status_interval = absl::Seconds(10);  // between writes that change numbers only
  absl::Duration queue_status_interval = absl::Seconds(1);
  // Claims of a gang's pods that wait for a node must be bound within this time,
  // or the gang is given up for a while.
  absl::Duration volume_timeout = absl::Minutes(10);
  absl::Duration node_cool_down = absl::Seconds(30);
  MigOptions mig;
  BackoffPolicy undo_backoff = {.first = absl::Seconds(2), .most = absl::Minutes(5)};
  BackoffPolicy bind_backoff = {.first = absl::Milliseconds(100), .most = absl::Seconds(5)};
};

struct RoomMadeScale {  // 1 s to half an hour
  static constexpr std::array<double, 9> kBounds = {1, 5, 10, 30, 60, 120, 300, 600, 1800};
};
struct DecisionScale {  // 10 µs to 10 s
  static constexpr std::array<double, 13> kBounds = {1e-5,   2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3,
                                                     2.5e-3, 5e-3,   1e-2, 0.1,  1,      10};
};

// Everything only grows, except the gauges at the end.
struct LoopCounters {
  int64_t turns = 0;
  int64_t events = 0;      // object events applied
  int64_t decisions = 0;   // calls of Decide
  int64_t plans = 0;       // … that placed something
  int64_t rejections = 0;  // … that did not
  int64_t searches_given_up = 0;
  int64_t searches_put_off = 0;  // long ones that have to wait for a slot of their Queue
  int64_t search_steps = 0;      // of all decisions; about half a million take a millisecond
  int64_t wakes = 0;             // parked items that became ready again
  int64_t binds_sent = 0;
  int64_t binds_succeeded = 0;
  int64_t binds_retried = 0;
  int64_t binds_unknown = 0;  // replies lost; the pod was read
  int64_t binds_refused = 0;
  int64_t binds_gone = 0;  // the pod was gone, or another's, by then
  int64_t kubelet_rejections = 0;
  int64_t gangs_bound = 0;  // quorums reached
  int64_t gangs_undone = 0;
  int64_t gangs_evicted = 0;    // for loss of their quorum
  int64_t preemptions = 0;      // plans that made others leave
  int64_t gangs_preempted = 0;  // whole, drained queues included
  int64_t evictions_sent = 0;
  int64_t evictions_refused = 0;
  int64_t budgets_passed = 0;  // pods deleted though a PodDisruptionBudget refused
  int64_t preemption_reversals = 0;
  int64_t reservations = 0;        // plans for a later start that were held
  int64_t backfills = 0;           // gangs let into room that was held for others
  int64_t repairs = 0;             // replacements planned for lost members
  int64_t mig_changes = 0;         // configurations of nodes that were set
  int64_t pod_parts_left_out = 0;  // of pods of other schedulers that ask beyond the caps
  int64_t sweeps = 0;              // of shapes and names that no pod uses any more
  int64_t statuses_written = 0;
  int64_t events_written = 0;
  int64_t events_over_budget = 0;  // not sent: too many about one object
  int64_t events_crowded_out = 0;  // given up: too many were waiting to be sent
  // Writes, and reads on their behalf, that the server answered with 403.
  absl::btree_map<Right, int64_t> forbidden;
  // Over gangs_bound, the sum of: seconds from the creation of the youngest placed member to the
  // quorum being bound.
  double scheduling_seconds = 0;
  // From the decision that others leave for a gang until it was placed in their room.
  DurationHistogram<RoomMadeScale> room_made;
  // Durations of decisions: of those that placed something,
  // and of others with their search for victims.
  DurationHistogram<DecisionScale> took_to_place, took_to_reject;

  // Gauges of the leader; a standby knows of none.
  int64_t gangs = 0;
  int64_t gangs_parked = 0;
  int64_t gangs_ready = 0;
  int64_t gangs_binding = 0;
  int64_t binds_under_way = 0;
  void EndOfLead() { gangs = gangs_parked = gangs_ready = gangs_binding = binds_under_way = 0; }
};

}  // namespace maniple
