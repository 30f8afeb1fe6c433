// Counts of GPU use for Queues and namespaces, by time, with the preemptions
// and the use that was in vain.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"

namespace maniple {

class UseCounts final {
 public:
  explicit UseCounts(Desk& desk) : desk_(desk) {}

  // Counts the GPU use of the gang's pods on nodes from now on.
  void MeterUse(const Case& c);
  // REQUIRES: names of Queues; "" = none.
  void CountPreempted(const std::string& by, const std::string& victim);
  // The GPUs that the pod has, and since when.
  [[nodiscard]] GpusSince GpusOf(const Case& c, PodId pod);
  // A pod was sent away, and its run was in vain. `queue`: the Queue's name; "" = none.
  void CountLost(const std::string& queue, const GpusSince& had, absl::Time now);
  void CountAllLost(const Case& c);  // of all members on nodes

  // Use since the totals of earlier leaders has been counted.
  void FirstLookEnds() { first_look_ = false; }

 private:
  Desk& desk_;
  bool first_look_ = true;  // use since the last leader's totals is still to be counted
};

}  // namespace maniple
