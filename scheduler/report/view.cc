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
    return std::tie(a.namespace_name, a.name) < std::tie(b.namespace_name, b.name);
  });
  for (NodeRow& row : view.nodes) {
    std::ranges::sort(row.gangs);
    std::ranges::sort(row.uses, Before);
    std::ranges::sort(row.held, Before);
  }
}

}  // namespace maniple
