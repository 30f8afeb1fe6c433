// PodGroups of ours that stand for gangs which others declare,
// and the statuses that producers read.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"

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
  void TellTroubleOnce(const Case& c, StandInWork& work);
  [[nodiscard]] static bool HasSomethingToSay(const Case& c, const Standing& standing);
  // When the condition is to be written though the phase stays; the future: it says what is so.
  [[nodiscard]] absl::Time ConditionDue(Case& c, absl::string_view phase,
                                        const Standing& standing) const;

  Desk& desk_;
  // Volcano's group has a status subresource; false: its status is written with the object itself.
  bool volcano_has_status_ = true;
};

}  // namespace maniple
