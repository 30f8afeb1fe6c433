// The parts of a simulated history: clock, server and network, the schedulers' processes,
// the users of the cluster, and the observers. Each borrows from those above it. One thread.
//
// World begins and disturbs a history, Onlooker watches the wire, Ending brings it to rest.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/devcluster/rest/api_server.h"
#include "test/sim/disturbances.h"
#include "test/sim/economy.h"
#include "test/sim/event_queue.h"
#include "test/sim/evictions.h"
#include "test/sim/faults.h"
#include "test/sim/hostile_tenant.h"
#include "test/sim/kept_room.h"
#include "test/sim/late_changes.h"
#include "test/sim/mig_users.h"
#include "test/sim/network.h"
#include "test/sim/processes.h"
#include "test/sim/producers.h"
#include "test/sim/raised_quorums.h"
#include "test/sim/truth.h"
#include "test/sim/variety.h"
#include "test/sim/volume_truth.h"
#include "test/sim/volume_users.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

namespace maniple::sim {

// Shapes and selectors that the tenant may leave behind before a sweep.
inline constexpr int kNotYetSwept = 8;

// "g1" of a pod's gang "default/g1".
[[nodiscard]] std::string GangName(const Truth::PodFacts& pod);

struct WorldParts {
  WorldParts(const SimOptions& sim_options, Processes::Hooks hooks);
  WorldParts(const WorldParts&) = delete;
  WorldParts& operator=(const WorldParts&) = delete;

  [[nodiscard]] bool Sound() const { return truth.violations().empty(); }
  [[nodiscard]] bool Elects() const { return options.seed % 2 == 0; }
  // Lets time pass, and checks every promise that must hold at every moment.
  // Ends early when one does not.
  void RunUntil(absl::Time when);
  void RunFor(absl::Duration time) { RunUntil(events.Now() + time); }
  // The faults that may happen at any moment, by users, administrators and the cluster itself.
  template <typename Function>
  static void ForEachKind(const Function& function) {
    std::ranges::for_each(Disturbances::Kinds(), function);
    std::ranges::for_each(LateChanges::Kinds(), function);
    std::ranges::for_each(HostileTenant::Kinds(), function);
  }
  void Strike(Fault fault, const std::string& gang);

  const SimOptions options;
  Random random;
  FaultInjector faults;
  SimulatedClock clock;
  EventQueue events;
  devcluster::ApiServer server;
  SimNetwork network;
  Truth truth;
  KeptRoom kept;
  Evictions evictions;
  RaisedQuorums raised_quorums;
  Users users;
  Economy economy;
  Variety variety;
  MigUsers mig_users;
  VolumeUsers volume_users;
  std::optional<VolumeTruth> volumes;  // where some are used
  Workload workload;
  Disturbances disturbances;
  HostileTenant tenant;
  Producers producers;
  LateChanges late_changes;
  Processes processes;
  absl::Time last_sent = absl::InfinitePast();  // of writes that keep neither a Lease nor a watch
  bool controllers_run = true;
};

}  // namespace maniple::sim
