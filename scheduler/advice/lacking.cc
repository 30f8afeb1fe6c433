// What keeps a gang waiting where GPUs are free: cores or memory that the pods beside them use up.
#include <algorithm>
#include <utility>

#include "scheduler/advice/changes.h"

namespace maniple {
namespace {

// In the order in which a report names lacking resources.
std::vector<ResourceId> AskedButGpus(const Hypothesis& from) {
  std::vector<ResourceId> asked;
  const Tables& tables = *from.snapshot->tables;
  for (const Want& want : from.request.wants) {
    for (const auto& [resource, amount] : tables.ShapeOf(want.shape).requests) {
      const bool known = std::ranges::find(asked, resource) != asked.end();
      if (!known && IsOnNodes(resource) && !tables.FactsOf(resource).gpu) asked.push_back(resource);
    }
  }
  return asked;
}

}  // namespace

std::vector<ResourceId> LackingButGpus(const Hypothesis& from, Trials& trials) {
  std::vector<ResourceId> lacking = AskedButGpus(from);
  if (lacking.empty() || !trials.Starts(WithPlenty(from, lacking))) return {};
  for (size_t i = 0; i < lacking.size() && lacking.size() > 1;) {
    std::vector<ResourceId> others = lacking;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (trials.Starts(WithPlenty(from, others))) {
      lacking = std::move(others);
    } else {
      ++i;
    }
  }
  return lacking;
}

}  // namespace maniple
