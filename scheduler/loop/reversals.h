// Whom a gang has left for, so that two never make each other leave in turn. What is remembered
// stands in the record of the gang and in the status of its PodGroup.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"

namespace maniple {

class Reversals final {
 public:
  explicit Reversals(Desk& desk) : desk_(desk) {}

  // It made the gang leave, on terms that hold still.
  [[nodiscard]] bool MadeLeave(const Gang& other, const Gang& gang) const;
  void NoteLeaving(GangId victim, const Gang& preemptor);
  // It left for a gang of another Queue, on terms that hold still.
  [[nodiscard]] bool WasReclaimed(const Case& c) const;

 private:
  [[nodiscard]] uint64_t TermsBetween(const Gang& victim, const Gang& preemptor) const;
  // The gang that it left for is there still, and so are the terms.
  [[nodiscard]] bool Holds(const LeftFor& left, const Gang& victim) const;

  Desk& desk_;
};

}  // namespace maniple
