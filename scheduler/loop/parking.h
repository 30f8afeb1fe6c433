// Items that wait: parked with what could help them, and with what is said of them.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/charges.h"
#include "scheduler/loop/desk.h"

namespace maniple {

class Parking final {
 public:
  Parking(Desk& desk, Charges& charges) : desk_(desk), charges_(charges) {}

  // Why it waits; shared with whom the same was noted of last in its Queue.
  void Note(Case& c, QueueItem item, WaitingFor waits);
  // Whoever stands behind it in a StrictFIFO Queue says so from now on.
  void Park(Case& c, QueueItem item, ParkFacts facts);

  // Queues are others.
  void ForgetNotes() { last_noted_.clear(); }
  // Those that nobody speaks of any more.
  void ForgetUnusedNotes() {
    absl::erase_if(last_noted_, [](const auto& noted) { return noted.second.expired(); });
  }

 private:
  Desk& desk_;
  Charges& charges_;
  absl::btree_map<std::string, std::weak_ptr<const WaitingFor>> last_noted_;  // by Queue
  absl::btree_map<QuotaNodeId, GangId> told_head_;  // of StrictFIFO queues: whom others wait behind
};

}  // namespace maniple
