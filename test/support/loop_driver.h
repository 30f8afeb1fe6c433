// A scheduling loop with its API server and its clock, for tests: submit, settle, look.
//
//   LoopDriver driver;
//   driver.Nodes(4, 8);                                    // n1 … n4 with 8 GPUs each
//   driver.Submit({.gang = "a", .pods = 4, .gpu = 8});
//   driver.Settle();
//   EXPECT_EQ(driver.Bound("a"), 4);
//
// Every named invariant is asked after every turn, and at rest that no parked gang could start.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/builders.h"
#include "test/support/scripted_api.h"
#include "test/support/turn_audit.h"

namespace maniple {

class LoopDriver final {
 public:
  struct Settings {  // of LoopOptions; the others are the usual ones
    FairSharing fair_sharing = FairSharing::kOn;
    absl::Duration reservation_after = absl::Minutes(10);
    IgnorePdb ignore_pdb = IgnorePdb::kNever;
    MigOptions mig = {};
    SearchBudget search = {};
    ProducerOptions producers = {};
    NodeRequestOptions node_requests = {};
    size_t help_work_per_turn = LoopOptions{}.help_work_per_turn;
  };
  LoopDriver() : LoopDriver(Settings()) {}
  explicit LoopDriver(const Settings& settings);

  ScriptedApi api;
  absl::Time now = absl::FromUnixSeconds(1'700'000'000);

  struct Job {
    std::string gang;
    int pods = 1;
    int min_member = 0;  // 0 = all of them
    int64_t gpu = 8;
    std::string queue;
    int32_t priority = 0;
    std::optional<absl::Duration> expected_runtime = {};
    std::optional<absl::Duration> deadline = {};  // of its pods
  };
  // The PodGroup if it is new, and pods named after those that exist already.
  void Submit(const Job& job);
  void Nodes(int count, int64_t gpu, absl::string_view prefix = "n");
  void Put(ObjectEvent event);

  // Turns until nothing moves, then on to `later`, stopping at every deadline on the way.
  void Settle(absl::Duration later = absl::ZeroDuration());
  // When the loop wants its next turn, as of the last one.
  [[nodiscard]] absl::Time next() const { return next_; }
  // One exchange with the server, without the check for rest.
  void Exchange();
  // The scheduler dies and starts anew with what the server holds.
  void Restart();

  [[nodiscard]] SchedulingLoop& loop() { return *loop_; }
  // All pieces of it.
  [[nodiscard]] ClusterFiguresPtr Figures() {
    while (true) {
      if (ClusterFiguresPtr figures = loop_->MoreFigures(now)) return figures;
    }
  }
  [[nodiscard]] const GangView* ViewOf(
      absl::string_view gang);                            // null: unknown; until the next call
  [[nodiscard]] int Bound(absl::string_view gang) const;  // Succeeded ones included
  [[nodiscard]] std::string NodeOf(absl::string_view pod) const;
  [[nodiscard]] const PodGroupStatus& StatusOf(absl::string_view gang) const;
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }

 private:
  // True when something was exchanged.
  bool Turn();

  void Tell(ObjectEvent event);

  const Settings settings_;
  std::unique_ptr<SchedulingLoop> loop_;
  TurnAudit audit_;
  absl::Time next_ = absl::InfiniteFuture();
  std::vector<std::string> log_;
  ClusterViewPtr view_;
};

}  // namespace maniple
