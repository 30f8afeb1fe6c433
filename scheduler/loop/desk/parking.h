// Items that wait: parked with the facts that could help them, and with the reason they tell.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"

namespace maniple {

class Parking final {
 public:
  Parking(Desk& desk, Charges& charges) : desk_(desk), charges_(charges) {}

  // Notes why the item waits; items of one Queue with the same reason in succession share it.
  void Note(Case& c, QueueItem item, WaitingFor waits);
  // Gangs that stand behind it in a StrictFIFO Queue, and gangs whose surplus does, say so from
  // now on.
  void Park(Case& c, QueueItem item, ParkFacts facts);

  // Queues have changed.
  void ForgetNotes() { last_noted_.clear(); }
  // Forgets notes that no gang refers to any more.
  void ForgetUnusedNotes() {
    absl::erase_if(last_noted_, [](const auto& noted) { return noted.second.expired(); });
  }

 private:
  Desk& desk_;
  Charges& charges_;
  absl::btree_map<std::string, std::weak_ptr<const WaitingFor>> last_noted_;  // by Queue
  // By StrictFIFO Queue: the head of which all that stand behind it have been told.
  absl::btree_map<QuotaNodeId, GangId> told_head_;
};

}  // namespace maniple
