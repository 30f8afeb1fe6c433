// Idle nodes are divided for the slices that wait: when to plan, and what becomes of a plan
// (scheduler/mig plans).
//
// A plan costs a node minutes, so plans are made only for gangs that have waited for a while,
// and at full multiples of some seconds, so that a new leader plans when the old one would have.
// A node under change counts as what it will be.
// A node that was changed is left alone for MigOptions::hold_off,
// as the node itself tells. Every plan serves more pods than the nodes as they are.
// So with the same gangs waiting no second plan repeats the first, and none undoes it.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/records/mig_request.h"
#include "scheduler/loop/room/preemptions.h"

namespace maniple {

class MigDivision final {
 public:
  // The owners that it asks.
  struct Parts {
    Charges& charges;
    const Preemptions& preemptions;
  };
  MigDivision(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // Plans, if it is time and a gang has waited long enough for slices that do not exist.
  void PlanMigNodes(absl::Time now);
  // "Never" is said of nodes as they are; nodes that may be divided anew can become others.
  // What remains is a lack of quota, or of room.
  void MindMig(const Case& c, const GangRequest& request, absl::Time now, Rejection& rejection);
  void HearNodeConfig(const std::string& name, const WriteResult& result, absl::Time now);
  // An event was folded into the fleet.
  void NoteForMig();
  [[nodiscard]] absl::Time due() const { return due_; }  // the time of the next plan

 private:
  // From here on the label on the node keeps GPU pods away.
  void EndMigHold(const std::string& name);
  [[nodiscard]] MigQuestion QuestionForMig(absl::Time now);
  [[nodiscard]] std::vector<WaitingPods> PodsThatWaitForNodes(absl::Time now);
  // Whatever nodes there were.
  [[nodiscard]] bool LacksQuotaForGood(const Case& c, const GangRequest& request);
  void Propose(const MigProposal& proposal, const std::string& why, absl::Time now);

  Desk& desk_;
  const Parts parts_;
  absl::Time due_ = absl::InfinitePast();  // the next plan; past: as soon as possible
};

}  // namespace maniple
