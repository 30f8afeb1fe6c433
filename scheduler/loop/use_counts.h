// What gangs use of GPUs, counted by time for their Queues and namespaces; whom others made leave,
// and what of it was in vain.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"

namespace maniple {

class UseCounts final {
 public:
  explicit UseCounts(Desk& desk) : desk_(desk) {}

  // What its pods on nodes use of GPUs is counted from now on.
  void MeterUse(const Case& c);
  // Of the names of the Queues; "" = none.
  void CountPreempted(const std::string& by, const std::string& victim);
  // What the pod has of GPUs, and since when.
  [[nodiscard]] GpusSince GpusOf(const Case& c, PodId pod);
  // A pod was sent away: what it has run was in vain. The Queue's name; "" = none.
  void CountLost(const std::string& queue, const GpusSince& had, absl::Time now);
  void CountAllLost(const Case& c);  // of all members on nodes

  // What earlier leaders have told is counted.
  void FirstLookEnds() { first_look_ = false; }

 private:
  Desk& desk_;
  bool first_look_ = true;  // what was used since the last leader told is still to be counted
};

}  // namespace maniple
