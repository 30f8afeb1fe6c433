// PodGroups of ours that stand for gangs which others declare,
// and the statuses that producers read.
//
// Owned by Leadership; one thread.
#pragma once

#include "absl/time/time.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/records/write_budget.h"

namespace maniple {

class StandIns final {
 public:
  explicit StandIns(Desk& desk) : desk_(desk) {}

  // Makes the PodGroup that stands for the gang, and keeps its spec equal to the producer's word.
  void KeepStandIn(Case& c, const Standing& standing);
  // Deletes a PodGroup that no garbage collector would.
  void DropStandIn(Case& c);
  // That no PodGroup can be made for the gang, as conditions of pods add it; "" = nothing is told.
  [[nodiscard]] static absl::string_view TroubleOf(const Case& c);
  void HearStandIn(GangId gang, const WriteResult& result, absl::Time now);
  // Writes the status of the foreign group, in its own words.
  void TellProducer(Case& c, const Standing& standing);
  void HearPhase(const Errand& errand, const WriteResult& result, absl::Time now);

 private:
  [[nodiscard]] bool IsOfVolcano(GangId id) const;
  void TellTroubleOnce(const Case& c, StandInWork& work);
  [[nodiscard]] static bool HasSomethingToSay(const Case& c, const Standing& standing);
  // When the condition is to be written though the phase stays; the future: it says what is so.
  [[nodiscard]] absl::Time ConditionDue(Case& c, absl::string_view phase,
                                        const Standing& standing) const;

  Desk& desk_;
  // A gang that starts goes through a few states at once; after that each write waits for a second.
  static constexpr WriteBudgetOptions kPace{.burst = 3, .interval = absl::Seconds(1)};
  WriteBudget<GangId> specs_{kPace};   // of the PodGroup that stands for the gang
  WriteBudget<GangId> phases_{kPace};  // of the foreign group
  // Volcano's group has a status subresource; false: its status is written with the object itself.
  bool volcano_has_status_ = true;
};

}  // namespace maniple
