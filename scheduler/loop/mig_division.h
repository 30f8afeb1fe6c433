// Idle nodes are divided for the slices that wait: when to plan, and what becomes of a plan
// (scheduler/mig plans).
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"
#include "scheduler/loop/mig_request.h"

namespace maniple {

class MigDivision final {
 public:
  explicit MigDivision(Desk& desk) : desk_(desk) {}

  void PlanMigNodes(absl::Time now);
  void MindMig(const GangRequest& request, absl::Time now, Rejection& rejection);
  void HearNodeConfig(const std::string& name, const WriteResult& result, absl::Time now);

  // An event was folded into the fleet.
  void NoteForMig();
  [[nodiscard]] absl::Time due() const { return due_; }  // when it is to plan again

 private:
  void EndMigHold(const std::string& name);
  [[nodiscard]] MigQuestion QuestionForMig(absl::Time now);
  [[nodiscard]] std::vector<WaitingPods> PodsThatWaitForNodes(absl::Time now);
  void Propose(const MigProposal& proposal, const std::string& why, absl::Time now);

  Desk& desk_;
  absl::Time planned_ = absl::InfinitePast();
  absl::Time due_ = absl::InfinitePast();  // the next plan; past: as soon as may be
};

}  // namespace maniple
