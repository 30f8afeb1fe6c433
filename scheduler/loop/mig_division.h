// Idle nodes are divided for the slices that wait: when to plan, and what becomes of a plan
// (scheduler/mig plans).
//
// A plan costs a node minutes, so it is made only for gangs that have waited for a while, and not
// one after the other. A node under change counts as what it will be; a node that was changed is
// left alone for MigOptions::hold_off, by what stands on the node itself; every plan serves more
// than what there is. So with the same gangs waiting there is no second plan for what the first one
// brings, and no way back.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"
#include "scheduler/loop/mig_request.h"

namespace maniple {

class MigDivision final {
 public:
  explicit MigDivision(Desk& desk) : desk_(desk) {}

  // If it is time, and somebody has waited long enough for slices that there are not.
  void PlanMigNodes(absl::Time now);
  // "Never" is said of nodes as they are; those that may be divided anew can be others.
  void MindMig(const GangRequest& request, absl::Time now, Rejection& rejection);
  void HearNodeConfig(const std::string& name, const WriteResult& result, absl::Time now);
  // An event was folded into the fleet.
  void NoteForMig();
  [[nodiscard]] absl::Time due() const { return due_; }  // when it is to plan again

 private:
  // From here on the label on the node keeps GPU pods away.
  void EndMigHold(const std::string& name);
  [[nodiscard]] MigQuestion QuestionForMig(absl::Time now);
  [[nodiscard]] std::vector<WaitingPods> PodsThatWaitForNodes(absl::Time now);
  void Propose(const MigProposal& proposal, const std::string& why, absl::Time now);

  Desk& desk_;
  absl::Time planned_ = absl::InfinitePast();
  absl::Time due_ = absl::InfinitePast();  // the next plan; past: as soon as may be
};

}  // namespace maniple
