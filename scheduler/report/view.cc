#include "scheduler/report/view.h"

#include <algorithm>
#include <tuple>

namespace maniple {
namespace {

bool Before(const NodeUseView& a, const NodeUseView& b) {
  return std::tie(a.gang, a.resource) < std::tie(b.gang, b.resource);
}

}  // namespace

void Arrange(ClusterView& view) {
  std::ranges::sort(view.gangs, [](const GangView& a, const GangView& b) {
    // A PodGroup stands before a pod without a group that has its name.
    return std::tie(a.namespace_name, a.name, a.singleton) <
           std::tie(b.namespace_name, b.name, b.singleton);
  });
  for (NodeRow& row : view.nodes) {
    std::ranges::sort(row.gangs);
    std::ranges::sort(row.uses, Before);
    std::ranges::sort(row.held, Before);
  }
}

}  // namespace maniple
