// One life of the scheduler process in simulated time: client machine and loop, as the real process
// composes them, on one thread.
//
// It can be killed between any two instructions, and stopped and continued as by SIGSTOP.
// Meanwhile inputs from the network wait, and its timers go off late. Its scheduling thread alone
// can be held up within a turn: the client goes on meanwhile, with the Lease and the watches.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/cluster_client.h"
#include "scheduler/loop/scheduling_loop.h"
#include "scheduler/mig/mig_fleet.h"
#include "test/sim/event_queue.h"
#include "test/sim/gathered_help.h"
#include "test/sim/network.h"

namespace maniple::sim {

enum class Watched : uint8_t { kNone, kAll };

struct ProcessOptions {
  uint64_t life = 1;  // unique in the world; seeds it and names it
  enum class Election { kOn, kOff } election = Election::kOn;
  FairSharing fair_sharing = FairSharing::kOn;
  absl::Duration reservation_after = absl::Minutes(10);
  int32_t holds_per_cohort = 1;
  size_t sweep_slack = ClusterStateOptions{}.sweep_slack;
  MigReconfigure mig = MigReconfigure::kOff;
  Watched producers = Watched::kNone;  // kinds of other projects
  // How far its wall clock is off.
  absl::Duration skew = absl::ZeroDuration();
};

class Process final {
 public:
  using Log = std::function<void(std::string)>;
  // `log` hears of decisions and of the lead. Everything borrowed must outlive the process.
  Process(SimNetwork& network, EventQueue& events, const ProcessOptions& options, Log log);
  ~Process();

  // As kill -9, at this instruction: nothing is finished, nothing is given back.
  void Kill();
  void Pause(absl::Duration time);
  // The next turn that writes takes so long: its decisions leave only then.
  void HoldUp(absl::Duration time) { next_turn_takes_ = time; }

  [[nodiscard]] uint64_t life() const { return options_.life; }
  [[nodiscard]] std::string identity() const;
  [[nodiscard]] bool alive() const { return *alive_; }
  [[nodiscard]] bool paused() const { return paused_; }
  // A turn takes long: its decisions have not left yet.
  [[nodiscard]] bool held_up() const { return unsent_.has_value(); }
  // When the writes that it sends now were decided.
  [[nodiscard]] absl::Time decided_at() const { return turn_at_; }
  // A write that leaves now is of this turn or of a later one: behind a long turn some still wait
  // for others to be answered.
  [[nodiscard]] absl::Time decided_since() const;
  // When its client last came to lead, whether its loop has heard of that or not.
  [[nodiscard]] absl::Time lead_began() const { return lead_began_; }
  // It has worked on and on at one moment without ever waiting.
  [[nodiscard]] bool spins() const { return spins_; }
  // What was wrong with its questions of what would help; "": nothing so far.
  [[nodiscard]] const std::string& help_flaw() const { return help_.flaw(); }
  // Its loop wants to work at some moment, whatever the network brings.
  [[nodiscard]] bool waits() const {
    return next_turn_ != absl::InfiniteFuture() || unsent_.has_value();
  }
  // As it believes itself.
  [[nodiscard]] bool leading() const { return leading_; }
  [[nodiscard]] absl::Time led_since() const { return led_since_; }  // REQUIRES: leading()
  [[nodiscard]] absl::Time Now() const { return events_.Now() + options_.skew; }
  [[nodiscard]] const SchedulingLoop& loop() const { return loop_; }
  [[nodiscard]] SchedulingLoop& loop() { return loop_; }

 private:
  void Receive(HttpInput input);
  void Continue();
  // The work of the real process's two threads between two waits.
  void Work();
  [[nodiscard]] bool Turn(absl::Time now);
  void EndLongTurn();
  void Sleep();

  const ProcessOptions options_;
  EventQueue& events_;
  const Log log_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool paused_ = false;
  bool leading_ = false;
  absl::Time led_since_ = absl::InfinitePast();
  bool spins_ = false;
  absl::Time busy_at_ = absl::InfinitePast();  // the moment of the last turn …
  int turns_at_ = 0;                           // … and how many there were in its millisecond
  std::vector<HttpInput> backlog_;             // came while it was stopped
  SchedulingLoop loop_;
  GatheredHelp help_;
  SimTransport transport_;
  ClusterClient client_;
  absl::Time lead_began_ = absl::InfinitePast();
  NewsFold news_;  // that the scheduling thread has not heard yet
  absl::Duration next_turn_takes_ = absl::ZeroDuration();
  absl::Time turn_at_ = absl::InfinitePast();       // the last
  std::optional<TurnOutput> unsent_;                // of a turn that takes long …
  absl::Time turn_ends_ = absl::InfinitePast();     // … until then
  absl::Time long_turn_at_ = absl::InfinitePast();  // the last of these
  absl::Time next_turn_ = absl::InfiniteFuture();   // of the loop
  absl::Time next_ = absl::InfiniteFuture();        // of loop and client
  absl::Time wake_ = absl::InfiniteFuture();
};

}  // namespace maniple::sim
