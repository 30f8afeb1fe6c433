// PodGroups of ours that stand for gangs which others declare, and what these others read of us.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"

namespace maniple {

class StandIns final {
 public:
  explicit StandIns(Desk& desk) : desk_(desk) {}

  // Makes the PodGroup that stands for it, and keeps its spec what the producer says.
  void KeepStandIn(Case& c, const Standing& standing);
  // Takes one away that no garbage collector would.
  void DropStandIn(Case& c);
  void HearStandIn(GangId gang, const WriteResult& result, absl::Time now);
  // Writes the status of the foreign group, in its own words.
  void TellProducer(Case& c, const Standing& standing);
  void HearPhase(const Errand& errand, const WriteResult& result, absl::Time now);

 private:
  [[nodiscard]] static bool HasSomethingToSay(const Case& c, const Standing& standing);

  Desk& desk_;
  // Of Volcano's group; false: its status is written with the object itself.
  bool volcano_has_status_ = true;
};

}  // namespace maniple
