// Where a scenario plays: embedded server, simulated time, one scheduler process; and the hands
// that change the cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/clock.h"
#include "api/devcluster/rest/api_server.h"
#include "test/scenario/scheduler.h"
#include "test/sim/event_queue.h"
#include "test/sim/faults.h"
#include "test/sim/network.h"

namespace maniple::scenario {

class Stage final {
 public:
  explicit Stage(SchedulerConfig config);

  // FailedPrecondition carries the server's refusal.
  absl::StatusOr<Json> Call(absl::string_view method, absl::string_view target, const Json& body);
  // POST to the collection of the object's kind; a status in it is written too.
  absl::Status Create(const Json& object);
  // Replaces the whole spec of the object, or creates it.
  absl::Status Put(const Json& object);
  absl::Status Delete(const Json& object);
  void StartScheduler();
  void KillScheduler();
  void Advance(absl::Duration by);

  [[nodiscard]] absl::StatusOr<Json> PodGroup(absl::string_view name);
  [[nodiscard]] std::vector<Json> PodsOf(absl::string_view gang);  // by name
  // That no parked gang could start by now.
  [[nodiscard]] absl::Status CheckAtRest() const;
  // With every gang and pod gone, nothing is held, charged or under way any more. Ends the play.
  [[nodiscard]] absl::Status CheckNothingLeaks();
  // Decisions since the start, each with the time since then.
  [[nodiscard]] std::vector<std::string> TakeLog();
  // Of the named invariants, which are asked after every turn.
  [[nodiscard]] std::vector<std::string> TakeViolations();
  [[nodiscard]] int64_t audited_turns() const;

 private:
  void Stamp();

  const SchedulerConfig config_;
  SimulatedClock clock_;
  const absl::Time began_ = clock_.Now();
  sim::EventQueue events_{clock_};
  devcluster::ApiServer server_{devcluster::ApiServerOptions{}};
  sim::FaultInjector no_faults_{1};
  sim::SimNetwork network_{server_, events_, no_faults_, 1};
  std::vector<std::string> fresh_;  // decisions that have no time yet
  std::vector<std::string> log_;
  std::vector<std::string> violations_;
  std::unique_ptr<Scheduler> scheduler_;
  uint64_t lives_ = 0;
  int64_t turns_of_the_dead_ = 0;
};

}  // namespace maniple::scenario
