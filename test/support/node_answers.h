// What one node says to one pod, for tests of single filters.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {

// "fits", or the reason in words. `others` are in the cluster before the pod comes.
inline std::string Answer(const MakeNode& node, const MakePod& pod,
                          const std::vector<ObjectEvent>& others = {}) {
  TestCluster cluster;
  cluster.Add(node);
  for (const ObjectEvent& other : others) cluster.Add(other);
  cluster.Add(pod);
  const Pod model = pod;
  const Decision decision = cluster.Decide(model.meta.name);
  if (std::holds_alternative<Plan>(decision)) return "fits";
  const std::vector<std::string> reasons = cluster.ReasonsOf(decision);
  return reasons.size() == 1 ? reasons[0].substr(3) : "?";
}

}  // namespace maniple
