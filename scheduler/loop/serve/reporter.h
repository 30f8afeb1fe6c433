// Reports changes: statuses of PodGroups, Queues and Cohorts, conditions of pods, events.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/node_asks.h"
#include "scheduler/loop/desk/stand_ins.h"
#include "scheduler/loop/serve/help_notes.h"
#include "scheduler/loop/serve/standings.h"

namespace maniple {

class Reporter final {
 public:
  // The owners that it works with.
  struct Parts {
    Charges& charges;
    NodeAsks& node_asks;
    StandIns& stand_ins;
    Standings& standings;
    HelpNotes& help_notes;
  };
  Reporter(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // Reports on all gangs that the turn has touched, and on Queues and Cohorts that are due.
  void Report(absl::Time now);
  void OnStatusReply(GangId gang, const WriteResult& result, absl::Time now);

 private:
  void ReportOn(Case& c);
  void WriteStatus(Case& c, const Standing& standing);
  void SendStatus(Case& c, PodGroupStatus status, StatusChange change);
  void TellPods(Case& c, const Standing& standing);
  void TellPod(Case& c, const Member& member, const WaitingFor& waits);
  [[nodiscard]] std::optional<std::string> NominationOf(const Case& c, const Member& member) const;
  void ComplainOnce(Case& c, const Standing& standing);
  void CountInQueue(const Case& c, const std::optional<Standing>& standing);

  Desk& desk_;
  Parts parts_;
  WriteBudget<PodId> pod_budget_{{.interval = absl::Seconds(1)}};  // of conditions
};

}  // namespace maniple
