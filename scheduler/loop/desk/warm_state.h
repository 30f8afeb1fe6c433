// The knowledge of the loop, whether it leads or not: a standby keeps it warm,
// and a leader works on it.
//
// Owned by SchedulingLoop; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/model/object.h"
#include "scheduler/loop/quota/queue_directory.h"
#include "scheduler/loop/quota/quota_ledger.h"
#include "scheduler/loop/records/cool_downs.h"
#include "scheduler/loop/records/errands.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/mig/mig_fleet.h"
#include "scheduler/report/decision_entry.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

struct WarmState {
  explicit WarmState(LoopOptions given);

  // Folds the event into everything that follows the API's objects.
  void Apply(const ObjectEvent& event, absl::Time now);
  // The picture of the state as it is; nothing is made when nothing has changed.
  const Snapshot& Picture();
  // Flavors follow the nodes, and the charges of gangs follow the flavors.
  struct QuotaChange {
    bool tree = false;   // Queues, Cohorts or limits have changed
    bool costs = false;  // pods may cost something else, or another Queue
  };
  [[nodiscard]] QuotaChange FollowQuota();
  // Forgets the parts that only a leader knows, and that the next leader derives again.
  void ForgetLead();

  void Log(DecisionEntry entry);

  LoopOptions options;
  Random random;
  ClusterState state;
  QueueDirectory directory;
  QuotaLedger ledger;
  MigFleet mig_fleet;
  CoolDowns cool_downs;
  Errands errands;
  Delta news;  // not yet told to parked gangs
  SnapshotPtr picture;
  LoopCounters counters;
  std::vector<DecisionEntry> log;
  uint64_t event_serial = 0;
  bool draining = false;
};

}  // namespace maniple
