// The scheduler of a scenario: client machine and loop on one thread, as the real process composes
// them, without election; every named invariant is asked after each of its turns.
//
// As test/sim/process.h, which can be stopped, has a clock of its own and is asked less.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/cluster_client.h"
#include "scheduler/app/config/config.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/event_queue.h"
#include "test/sim/network.h"
#include "test/support/turn_audit.h"

namespace maniple::scenario {

class Scheduler final {
 public:
  struct Listeners {
    std::function<void(std::string)> on_decision, on_violation;
  };
  struct Settings {
    uint64_t life = 1;  // a seed of its own for each
    SchedulerConfig config;
  };
  // Everything borrowed must outlive it. Its destruction is a kill -9.
  Scheduler(sim::SimNetwork& network, sim::EventQueue& events, const Settings& settings,
            Listeners listeners);
  ~Scheduler();

  [[nodiscard]] const SchedulingLoop& loop() const { return loop_; }
  [[nodiscard]] int64_t audited_turns() const { return audit_.turns(); }

 private:
  // The work of the real process's two threads between two waits.
  void Work();
  // True when there is more to do at once.
  bool Turn();
  void SleepUntil(absl::Time when);

  sim::EventQueue& events_;
  const Listeners listeners_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  SchedulingLoop loop_;
  TurnAudit audit_;
  sim::SimTransport transport_;
  ClusterClient client_;
  absl::Time next_turn_ = absl::InfiniteFuture();
  absl::Time wake_ = absl::InfiniteFuture();
  absl::Time busy_at_ = absl::InfinitePast();
  int turns_at_ = 0;
};

}  // namespace maniple::scenario
