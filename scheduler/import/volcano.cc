// Queues of the capacity plugin: capability is a limit, deserved is nominal, guarantee is never
// lent.
#include <map>
#include <string>

#include "scheduler/import/queue_tree.h"

namespace maniple {
namespace {

Json OwnSpecOf(ForeignManifest& queue, Imported& out) {
  Json spec = Json::Object();
  const std::string& order = queue.Take("dequeueStrategy").AsString();
  if (order == "fifo") spec.Set("ordering", "StrictFIFO");
  if (order == "traverse") spec.Set("ordering", "BestEffortFIFO");
  // The state in the status counts; the field of the spec is the older one.
  std::string state = queue.whole().At("status.state").AsString();
  if (const Json& wanted = queue.Take("state"); state.empty()) state = wanted.AsString();
  if (state == "Closed" || state == "Closing") spec.Set("stopPolicy", "Hold");
  spec.Set("preemption",
           Json::Object({{"withinQueue", "LowerPriority"}, {"reclaimWithinCohort", "Any"}}));
  if (const Json& reclaimable = queue.Take("reclaimable");
      reclaimable.is_bool() && !reclaimable.AsBool()) {
    queue.Note("spec.reclaimable",
               "not carried over: others get back here what is theirs; to keep it, make it nominal",
               out.findings);
  }
  return spec;
}

TreeQueue VolcanoTreeQueue(ForeignManifest& queue, Imported& out) {
  TreeQueue tree{.from = &queue, .parent = queue.Take("parent").AsString()};
  for (const auto& [resource, amount] : TakeAmounts(queue, "capability", out)) {
    tree.lines[resource].limit = amount;
  }
  for (const auto& [resource, amount] : TakeAmounts(queue, "deserved", out)) {
    tree.lines[resource].nominal = amount;
  }
  for (const auto& [resource, amount] : TakeAmounts(queue, "guarantee.resource", out)) {
    TreeQueue::Line& line = tree.lines[resource];
    line.nominal = std::max(line.nominal, amount);
    line.reserved = amount;
  }
  tree.own_spec = OwnSpecOf(queue, out);
  tree.weight = queue.Take("weight");
  queue.HasNoCounterpart("priority", "Queues are served by their shares", out.findings);
  queue.HasNoCounterpart("affinity", "name the nodes in a ResourceFlavor, and quota for that only",
                         out.findings);
  queue.HasNoCounterpart("type", "Queues are of one type", out.findings);
  queue.HasNoCounterpart("extendClusters", "one scheduler serves one cluster", out.findings);
  return tree;
}

}  // namespace

void ImportVolcano(ForeignManifests& objects, Imported& out) {
  std::map<std::string, TreeQueue> queues;
  for (ForeignManifest& object : objects) {
    if (object.kind() != "Queue") continue;
    TreeQueue queue = VolcanoTreeQueue(object, out);
    if (object.name() != kRootQueue) {
      queues.emplace(object.name(), std::move(queue));
      continue;
    }
    for (const absl::string_view amounts : {"capability", "deserved", "guarantee"}) {
      object.HasNoCounterpart(amounts, "the Cohort above all has what the nodes have",
                              out.findings);
    }
  }
  ImportTree(std::move(queues), kRootQueue, CapacityOf(objects), out);
}

}  // namespace maniple
