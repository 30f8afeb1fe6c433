// Requests for nodes to an autoscaler, one for each gang that waits for room (node_request.h).
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"

namespace maniple {

class NodeAsks final {
 public:
  explicit NodeAsks(Desk& desk) : desk_(desk) {}

  // Makes the request, follows it, or takes it back, by how the gang stands.
  void AskForNodes(Case& c, const Standing& standing);
  void HearNodeRequest(const Errand& errand, const WriteResult& result, absl::Time now);
  // The gang's pods say that nodes are asked for, rather than that none fits.
  [[nodiscard]] bool AwaitsNodes(const Case& c, const WaitingFor& waits) const;

 private:
  Desk& desk_;
};

}  // namespace maniple
