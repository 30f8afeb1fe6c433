// The scheduler without its shell: events and write results in, write commands out, in turns.
//
// Owns a WarmState, and a Leadership while this process leads. A state machine on the
// scheduling thread: no sockets, no clock, no threads; production, scenarios and simulation drive
// the very same object.
//
//   loop.Hear(client.TakeNews());
//   TurnOutput out = loop.Turn(clock.Now());  // apply, wake, decide, reserve, bind, report
//   client.Write(out.writes, out.lead, clock.Now());
//   … sleep until out.next or new input, or not at all when out.more …
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/cluster_news.h"
#include "api/client/write_command.h"
#include "api/model/object.h"
#include "queue/gang.h"
#include "scheduler/advice/help_question.h"
#include "scheduler/bind/bind_state.h"
#include "scheduler/cycle/start_plan.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/loop/records/turn_output.h"
#include "scheduler/report/decision_entry.h"
#include "scheduler/report/figures.h"
#include "scheduler/report/view.h"

namespace maniple {

class SchedulingLoop final {
 public:
  explicit SchedulingLoop(LoopOptions options);
  ~SchedulingLoop();

  // Events and results, then the change of the role.
  void Hear(ClusterNews news);
  void Accept(ObjectEvent event);
  void Accept(WriteResult result);
  // Only a leader decides and writes; a standby keeps its state warm. On losing the lead everything
  // in flight is dropped from memory: the next leader (perhaps this process) derives it again from
  // the API.
  enum class Role { kStandby, kLeader };
  void SetRole(Role role);
  // No new decision; binds and other writes in flight are carried on until Idle(). For SIGTERM.
  void Drain();
  [[nodiscard]] bool Idle() const;    // nothing is in flight but what the next leader says again
  [[nodiscard]] bool Synced() const;  // every kind has been listed; nothing is decided before

  [[nodiscard]] TurnOutput Turn(absl::Time now);

  // The view for operators; built when asked, immutable.
  [[nodiscard]] ClusterViewPtr View(absl::Time now) const;
  // The same for a caller without time to build it at once: piece by piece, each as of its call,
  // not arranged yet. Null until the call that ends a round.
  [[nodiscard]] std::unique_ptr<ClusterView> MoreView(absl::Time now);
  // Figures for metrics, without a look at gangs. They are made piece by piece, so that no turn is
  // late: null until the call that ends a round; each piece is as of its call. GPUs that others
  // leave for a gang count as used until it has them.
  [[nodiscard]] ClusterFiguresPtr MoreFigures(absl::Time now);
  // The question for AnswerHelp (scheduler/advice/help.h), for any thread,
  // as long as the loop lives. Null: the gang is unknown or does not wait,
  // room and quota cannot help it, or this process does not lead.
  // It is gathered piece by piece, so that no turn is late: none until the call that ends a round,
  // and the question is as of that call. A call for another gang begins another round.
  [[nodiscard]] std::optional<HelpQuestionPtr> MoreHelp(const GangKey& key, absl::Time now);
  // The same at once.
  [[nodiscard]] HelpQuestionPtr HelpFor(const GangKey& key, absl::Time now);
  // One sentence of help in statuses: the next gang that is to be asked about, when there is one
  // again, and what to say of it, as CheapHelp does; "" = nothing.
  [[nodiscard]] std::optional<GangKey> TakeHelpDue(absl::Time now);
  [[nodiscard]] absl::Time NextHelpDue() const;
  void TellHelp(const GangKey& key, const std::string& change, absl::Time now);
  [[nodiscard]] const LoopCounters& counters() const;

  // The decision log since the last call of either: as entries, or as lines for tests.
  [[nodiscard]] std::vector<DecisionEntry> TakeDecisions();
  [[nodiscard]] std::vector<std::string> TakeDecisionLog();

  // For tests and simulation: invariants of state, queue and bindings.
  [[nodiscard]] absl::Status CheckInvariants() const;
  // Decides every parked item afresh on the newest state; names the first that could start.
  [[nodiscard]] absl::Status CheckParkedCannotStart(absl::Time now) const;
  // For use when every gang has ended: no reservation, hold, claim, departure or charge is left.
  [[nodiscard]] absl::Status CheckNothingHeld() const;
  [[nodiscard]] std::vector<HeldStart> HeldStarts() const;
  // How many members of gangs in flight are in each state, by BindState.
  [[nodiscard]] std::array<int32_t, kBindStates> MemberStates() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
