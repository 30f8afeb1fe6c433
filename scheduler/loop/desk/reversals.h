// The gangs for which a gang has left, so that two never evict each other in turn. The memory
// stands in the record of the gang and in the status of its PodGroup.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"

namespace maniple {

class Reversals final {
 public:
  explicit Reversals(Desk& desk) : desk_(desk) {}

  // `other` made the gang leave, on terms that still hold.
  [[nodiscard]] bool MadeLeave(const Gang& other, const Gang& gang) const;
  // The memory of a gang that is asked to leave; none of a preemptor that no uid tells apart.
  [[nodiscard]] std::optional<LeftFor> LeavesFor(GangId victim, const Gang& preemptor);
  // It has begun to leave.
  void NoteLeft(GangRecord& victim, LeftFor left);
  // The gang left for one of another Queue, on terms that still hold.
  [[nodiscard]] bool WasReclaimed(const Case& c) const;

 private:
  [[nodiscard]] uint64_t TermsBetween(const Gang& victim, const Gang& preemptor) const;
  // The gang for which it left is still there, and the terms still hold.
  [[nodiscard]] bool Holds(const LeftFor& left, const Gang& victim) const;

  Desk& desk_;
};

}  // namespace maniple
